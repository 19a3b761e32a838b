import { execFileSync } from 'node:child_process'
import { chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentOf, complaint, complaintAbout, load } from './agents.js'

const FILES = ['agent.yaml', 'context.yaml', 'hooks.yaml']
const isRoot = process.getuid?.() === 0

test('a byte order mark and Windows line ends change nothing', async () => {
  const { agent } = await load({ 'agent.yaml': '\uFEFFname: tester\r\nllm:\r\n  model: gpt-4o\r\n' })
  expect(agent.name).toBe('tester')
  expect(agent.llm.model).toBe('gpt-4o')
})

test('an empty file, or one with only comments, is an error; an empty hooks.yaml has no hooks', async () => {
  expect(await complaint({ 'agent.yaml': '' })).toBe(
    'agent/agent.yaml: The file is empty.\nIt needs at least a name and a model. Or make an agent that runs in a new directory: delta init my-agent',
  )
  expect(await complaint({ 'context.yaml': '# soon\n' })).toBe(
    'agent/context.yaml:1:1: must be a mapping with "sources", got nothing.\n  # soon\n  ^',
  )
  const { agent, warnings } = await load({ 'hooks.yaml': '# none yet\n' })
  expect([agent.hooks, warnings]).toEqual([{}, []])
})

test.each<[string, (path: string) => unknown]>([
  ['is a directory, not a file', (path) => mkdir(path)],
  ['is a symbolic link that leads to itself', (path) => symlink(path, path)],
  ['is not a regular file', (path) => execFileSync('mkfifo', [path])], // and nothing waits for a writer
  ['is larger than 4 MB', (path) => writeFile(path, '').then(() => truncate(path, 100 * 1024 * 1024))],
])('what is in place of a file is named: it %s', async (message, make) => {
  for (const name of FILES) {
    const home = await agentOf({ [name]: undefined })
    await make(join(home, name))
    expect(await complaintAbout(home)).toBe(`agent/${name}: ${message}.`)
  }
})

test.skipIf(isRoot)(
  'a file that may not be read, and a directory that may not be listed, are named',
  async () => {
    const home = await agentOf()
    await chmod(join(home, 'agent.yaml'), 0)
    expect(await complaintAbout(home)).toBe('agent/agent.yaml: may not be read by you.')
    await chmod(home, 0)
    expect(await complaintAbout(home)).toContain("agent: the agent's directory may not be read by you.")
    await chmod(home, 0o700)
  },
)

const BOMB = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
  .concat('bcdefghi'.split('').map((key, at) => `${key}: &${key} [${Array(10).fill(`*${'abcdefgh'[at]}`)}]`))
  .join('\n')

const UNUSABLE: [string | Buffer, RegExp][] = [
  ['a:\n\tb: c\n', /\.yaml:2:1: Not valid YAML: Tabs are not allowed as indentation\./],
  [
    BOMB,
    /\.yaml:\d+:\d+: Not valid YAML: Excessive alias count.*Aliases may make a file 100 times as large/s,
  ],
  ['a: 1\na: 2\n', /\.yaml:2:1: The key "a" is given twice\./],
  ['a\0b', /is not a text file: it contains NUL bytes\./],
  [Buffer.from('a: caf\xe9\n', 'latin1'), /is not UTF-8 text; save it as UTF-8\./],
]

test.each([...FILES, 'tools.yaml', 'turns.yaml'])(
  'in %s a tab, a bomb, a repeated key, NUL and another encoding are found',
  async (name) => {
    const agent = 'name: a\nllm: { provider: script, script: turns.yaml }\nimports: [tools.yaml]\n'
    const good = { 'agent.yaml': agent, 'tools.yaml': 'tools: []\n', 'turns.yaml': '- content: x\n' }
    const home = await agentOf(good)
    for (const [bad, expected] of UNUSABLE) {
      await writeFile(join(home, name), bad)
      expect(await complaintAbout(home)).toMatch(expected)
    }
  },
)
