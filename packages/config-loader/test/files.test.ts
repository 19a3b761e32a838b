import { execFileSync } from 'node:child_process'
import { chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentOf, complaint, complaintAbout, load } from './agents.js'

test('a byte order mark and Windows line ends are no mistake', async () => {
  const { agent } = await load({ 'agent.yaml': '\uFEFFname: tester\r\nllm:\r\n  model: gpt-4o\r\n' })
  expect(agent.name).toBe('tester')
  expect(agent.llm.model).toBe('gpt-4o')
})

test('an empty file is called empty, also when it holds only comments', async () => {
  expect(await complaint({ 'agent.yaml': '' })).toBe(
    'agent/agent.yaml: The file is empty.\nIt needs at least a name and a model.',
  )
  expect(await complaint({ 'context.yaml': '# soon\n' })).toBe(
    'agent/context.yaml:1:1: must be a map with "sources", not nothing.\n  # soon\n  ^',
  )
})

test('hooks.yaml may be empty: then there are no hooks', async () => {
  const { agent, warnings } = await load({ 'hooks.yaml': '# none yet\n' })
  expect(agent.hooks).toEqual({})
  expect(warnings).toEqual([])
})

test.each(['agent.yaml', 'context.yaml', 'hooks.yaml'])(
  'a directory in place of %s is said to be one',
  async (name) => {
    const home = await agentOf({ [name]: undefined })
    await mkdir(join(home, name))
    expect(await complaintAbout(home)).toBe(`agent/${name}: is a directory, not a file.`)
  },
)

test('a file of 100 MB is refused before it is read', async () => {
  const home = await agentOf()
  await truncate(join(home, 'agent.yaml'), 100 * 1024 * 1024)
  expect(await complaintAbout(home)).toBe('agent/agent.yaml: is larger than 4 MB.')
})

test('a file that is no text is refused', async () => {
  expect(await complaint({ 'agent.yaml': 'name: a\0b\n' })).toBe(
    'agent/agent.yaml: is not a text file: it contains NUL bytes.',
  )
})

test('a file that is not UTF-8 is refused, whatever it would have decoded to', async () => {
  const home = await agentOf({ 'agent.yaml': undefined })
  await writeFile(join(home, 'agent.yaml'), Buffer.from('name: caf\xe9\n', 'latin1'))
  expect(await complaintAbout(home)).toBe('agent/agent.yaml: is not UTF-8 text; save it as UTF-8.')
})

test.skipIf(process.getuid?.() === 0)('a directory that may not be listed is said to be one', async () => {
  const home = await agentOf()
  await chmod(home, 0)
  expect(await complaintAbout(home)).toContain("agent: the agent's directory may not be read by you.")
  await chmod(home, 0o700)
})

test.skipIf(process.getuid?.() === 0)('a file that may not be read is said to be one', async () => {
  const home = await agentOf()
  await chmod(join(home, 'agent.yaml'), 0)
  expect(await complaintAbout(home)).toBe('agent/agent.yaml: may not be read by you.')
})

test('a pipe in place of a file does not keep anybody waiting', async () => {
  const home = await agentOf({ 'context.yaml': undefined })
  execFileSync('mkfifo', [join(home, 'context.yaml')])
  expect(await complaintAbout(home)).toBe('agent/context.yaml: is not a regular file.')
})

test.each(['agent.yaml', 'context.yaml', 'hooks.yaml'])(
  '%s that is a link to itself is said to be one',
  async (name) => {
    const home = await agentOf({ [name]: undefined })
    await symlink(name, join(home, name))
    expect(await complaintAbout(home)).toBe(`agent/${name}: is a symbolic link that leads to itself.`)
  },
)

test.each(['agent.yaml', 'context.yaml', 'hooks.yaml', 'tools.yaml', 'turns.yaml'])(
  'in %s, too, what makes a file unusable is found: tabs, bombs, repeated keys, NUL, other encodings, too much',
  async (name) => {
    const agent = 'name: a\nllm: { provider: script, script: turns.yaml }\nimports: [tools.yaml]\n'
    const good = { 'agent.yaml': agent, 'tools.yaml': 'tools: []\n', 'turns.yaml': '- content: x\n' }
    const home = await agentOf(good)
    for (const [bad, expected] of BAD) {
      await writeFile(join(home, name), bad)
      expect(await complaintAbout(home)).toMatch(expected)
    }
  },
)

const BOMB = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
  .concat('bcdefghi'.split('').map((key, at) => `${key}: &${key} [${Array(10).fill(`*${'abcdefgh'[at]}`)}]`))
  .join('\n')

const BAD: [string | Buffer, RegExp][] = [
  ['a:\n\tb: c\n', /\.yaml:2:1: Not valid YAML: Tabs are not allowed as indentation\./],
  [BOMB, /\.yaml:\d+:\d+: Not valid YAML: Excessive alias count/],
  ['a: 1\na: 2\n', /\.yaml:2:1: The key "a" is given twice\./],
  ['a\0b', /is not a text file: it contains NUL bytes\./],
  [Buffer.from('a: caf\xe9\n', 'latin1'), /is not UTF-8 text; save it as UTF-8\./],
  [Buffer.alloc(4 * 1024 * 1024 + 1, ' '), /is larger than 4 MB\./],
]

test('a list in place of a map is called by its name', async () => {
  expect(await complaint({ 'agent.yaml': '- name: a\n' })).toContain(
    'agent/agent.yaml:1:1: must be a map with "name", not a list.',
  )
})
