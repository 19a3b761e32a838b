import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadAgent } from '../src/index.js'
import { agentOf, complaint, complaintAbout, directoryOf, load, MINIMAL, texts } from './agents.js'

const importing = (...entries: string[]) =>
  `${MINIMAL['agent.yaml']}imports:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`
const tool = (name: string, exec = `echo ${name}`) => `tools:\n  - { name: ${name}, exec: ${exec} }\n`

test('tools come from imports in their order, then from the agent itself', async () => {
  const { agent } = await load({
    'agent.yaml': `${importing('./tools/a.yaml', 'tools/b.yaml')}${tool('own')}`,
    'tools/a.yaml': tool('a'),
    'tools/b.yaml': tool('b'),
  })
  expect([...agent.tools.keys()]).toEqual(['a', 'b', 'own'])
})

test('paths are relative to the file that imports', async () => {
  const { agent } = await load({
    'agent.yaml': importing('tools/outer.yaml'),
    'tools/outer.yaml': `imports: [deep/inner.yaml, ../shared.yaml]\n${tool('outer')}`,
    'tools/deep/inner.yaml': tool('inner'),
    'shared.yaml': tool('shared'),
  })
  expect([...agent.tools.keys()]).toEqual(['inner', 'shared', 'outer'])
})

test('the last definition of a name wins, the local one over all, and each override is listed', async () => {
  const { agent, home } = await load({
    'agent.yaml': `${importing('a.yaml', 'b.yaml')}${tool('greet', 'echo Bonjour')}`,
    'a.yaml': tool('greet', 'echo Hello'),
    'b.yaml': tool('greet', 'echo Hallo'),
  })
  expect(agent.tools.get('greet')?.expanded.command).toEqual(['echo', 'Bonjour'])
  expect(agent.overrides).toEqual([
    { name: 'greet', by: join(home, 'b.yaml:2'), replaced: join(home, 'a.yaml:2') },
    { name: 'greet', by: join(home, 'agent.yaml:7'), replaced: join(home, 'b.yaml:2') },
  ])
})

test('a file imported along two ways is fine, and overrides nothing', async () => {
  const { agent } = await load({
    'agent.yaml': importing('left.yaml', 'right.yaml'),
    'left.yaml': `imports: [base.yaml]\n${tool('left')}`,
    'right.yaml': `imports: [base.yaml]\n${tool('right')}`,
    'base.yaml': tool('base'),
  })
  expect([...agent.tools.keys()]).toEqual(['base', 'left', 'right'])
  expect(agent.overrides).toEqual([])
})

test('diamonds on diamonds are read once each, not two to the power of their number', async () => {
  const files: Record<string, string> = {}
  for (let level = 0; level < 40; level++)
    files[`l${level}.yaml`] = `imports: [l${level + 1}.yaml, ./l${level + 1}.yaml]\n`
  const { agent } = await load({ ...files, 'agent.yaml': importing('l0.yaml'), 'l40.yaml': tool('bottom') })
  expect([...agent.tools.keys()]).toEqual(['bottom'])
})

test('a circle is reported with the whole chain', async () => {
  const message = await complaint({
    'agent.yaml': importing('a.yaml'),
    'a.yaml': 'imports: [tools/b.yaml]\n',
    'tools/b.yaml': 'imports: [../a.yaml]\n',
  })
  expect(
    message,
  ).toBe(`agent/tools/b.yaml:1:11: imports[0]: the imports go in a circle: agent/a.yaml → agent/tools/b.yaml → agent/a.yaml.
  imports: [../a.yaml]
            ^
Remove one of them.`)
})

test('a file that imports itself, or the agent that imports it, is a circle as well', async () => {
  expect(await complaint({ 'agent.yaml': importing('agent.yaml') })).toContain(
    'agent/agent.yaml → agent/agent.yaml',
  )
})

test('an import from outside of the agent is refused, and the message says how to allow it', async () => {
  const outside = await directoryOf({ 'db.yaml': tool('query') })
  const home = await agentOf({ 'agent.yaml': importing(join(outside, 'db.yaml')) })
  expect(
    await complaintAbout(home),
  ).toBe(`agent/agent.yaml:4:5: imports[0]: "${outside}/db.yaml" leads to ${outside}/db.yaml, outside of the agent's directory.
  - ${outside}/db.yaml
    ^
If you trust what is there, make its directory an import root (DELTA_IMPORT_ROOTS, or for this run alone).`)
  await expect(loadAgent(home, { env: {} })).rejects.toMatchObject({
    problems: [{ allowedBy: { option: 'importRoots', value: outside } }],
  })
})

test('a symbolic link does not lead out either', async () => {
  const outside = await directoryOf({ 'db.yaml': tool('query') })
  const home = await agentOf({ 'agent.yaml': importing('db.yaml') })
  await symlink(join(outside, 'db.yaml'), join(home, 'db.yaml'))
  expect(await complaintAbout(home)).toContain(
    `"db.yaml" leads to ${outside}/db.yaml, outside of the agent's directory.`,
  )
})

test('a neighbour whose name begins like the agent is outside', async () => {
  const home = await agentOf({ 'agent.yaml': importing('../x') })
  const neighbour = `${home}-shared`
  await mkdir(neighbour)
  const { onTestFinished } = await import('vitest')
  const { rm } = await import('node:fs/promises')
  onTestFinished(() => rm(neighbour, { recursive: true }))
  await writeFile(join(neighbour, 'tools.yaml'), tool('near'))
  await writeFile(join(home, 'agent.yaml'), importing(`${neighbour}/tools.yaml`))
  expect(await complaintAbout(home)).toContain("outside of the agent's directory.")
})

test('the person who runs the agent may allow a shared library, by option or environment', async () => {
  const project = await directoryOf({ 'shared/files.yaml': tool('read'), 'agents/one/keep': '' })
  const home = await agentOf({ 'agent.yaml': importing(`${project}/shared/files.yaml`) })
  const byOption = await loadAgent(home, { env: {}, importRoots: [join(project, 'shared')] })
  const byEnvironment = await loadAgent(home, {
    env: { DELTA_IMPORT_ROOTS: `/nowhere:${project}/shared` },
  })
  expect([...byOption.agent.tools.keys()]).toEqual(['read'])
  expect([...byEnvironment.agent.tools.keys()]).toEqual(['read'])
  expect(texts(byEnvironment.warnings, home)).toEqual(['/nowhere: The import root does not exist.'])
})

test('a relative DELTA_IMPORT_ROOTS is refused: it would mean something else in each directory', async () => {
  const message = await complaint({}, { env: { DELTA_IMPORT_ROOTS: '../shared' } })
  expect(message).toBe('DELTA_IMPORT_ROOTS: "../shared" is not an absolute path.')
})

test('npm: imports a file of an installed package, also through the links of pnpm', async () => {
  const store = await directoryOf({
    'tools/files.yaml': `imports: [./more.yaml]\n${tool('read')}`,
    'tools/more.yaml': tool('more'),
  })
  const home = await agentOf({ 'agent.yaml': importing('npm:@acme/tools/tools/files.yaml') })
  await mkdir(join(home, 'node_modules/@acme'), { recursive: true })
  await symlink(store, join(home, 'node_modules/@acme/tools'))
  const { agent } = await loadAgent(home, { env: {} })
  expect([...agent.tools.keys()]).toEqual(['more', 'read'])
})

test('npm: looks in the directories around the agent, as Node does', async () => {
  const project = await directoryOf({
    'node_modules/acme/all.yaml': tool('acme'),
    ...prefixed('agents/one', importing('npm:acme/all.yaml')),
  })
  const { agent } = await loadAgent(join(project, 'agents/one'), { env: {} })
  expect([...agent.tools.keys()]).toEqual(['acme'])
})

test('npm: reaches neither out of the package nor to one that is not there', async () => {
  const home = await agentOf({
    'agent.yaml': importing(
      'npm:acme/../../secret.yaml',
      'npm:missing/a.yaml',
      'npm:acme',
      'npm:acme/none.yaml',
    ),
    'node_modules/acme/package.json': '{}',
    'secret.yaml': tool('secret'),
  })
  const message = await complaintAbout(home)
  expect(message).toContain('imports[0]: "npm:acme/../../secret.yaml" leads out of the package')
  expect(message).toContain('imports[1]: the package "missing" is not installed.')
  expect(message).toContain(`Install it there: cd agent && npm install missing`)
  expect(message).toContain('imports[2]: "npm:acme" is not of the form npm:<package>/<file>.')
  expect(message).toContain('imports[3]: the package "acme" has no file "none.yaml".')
})

test.each(['npm:../a.yaml', 'npm:@x/../a.yaml', 'npm:./a.yaml'])('%s is no package', async (entry) => {
  const project = await directoryOf({
    'node_modules/@x/y': '',
    'a.yaml': tool('a'),
    ...prefixed('agent', importing(entry)),
  })
  expect(await complaintAbout(join(project, 'agent'))).toContain('is not of the form npm:<package>/<file>.')
})

test('nothing is fetched from the network', async () => {
  expect(await complaint({ 'agent.yaml': importing('https://example.com/tools.yaml') })).toContain(
    'imports[0]: "https://example.com/tools.yaml" is not a file; nothing is fetched from elsewhere.',
  )
})

test('a missing file and a pattern are explained', async () => {
  const message = await complaint({
    'agent.yaml': importing('tols.yaml', '"tools/*.yaml"'),
  })
  expect(message).toContain(`agent/agent.yaml:4:5: imports[0]: "tols.yaml" does not exist in agent.`)
})

test('an imported file without tools is probably the wrong file', async () => {
  const message = await complaint({
    'agent.yaml': importing('notes.yaml'),
    'notes.yaml': 'description: Notes.\n',
  })
  expect(message).toContain('agent/notes.yaml:1:1: An imported file must contain a list "tools:".')
})

test('mistakes in an imported file are shown in that file', async () => {
  const message = await complaint({
    'agent.yaml': importing('tools.yaml'),
    'tools.yaml': tool('bad', '"a | b"'),
  })
  expect(message).toContain('agent/tools.yaml:2:27: tools[0] "bad": ')
})

test('an import that is a directory, and one that is empty, are said to be, both where they are written', async () => {
  const message = await complaint({
    'agent.yaml': importing('./tools', 'empty.yaml', '.'),
    'tools/b.yaml': tool('b'),
    'empty.yaml': '# later\n',
  })
  expect(message).toContain(`agent/agent.yaml:4:5: imports[0]: agent/tools is a directory, not a file.
  - ./tools
    ^
`)
  expect(message).toContain(`agent/agent.yaml:5:5: imports[1]: agent/empty.yaml is empty.
  - empty.yaml
    ^
A file to import holds a list "tools:".`)
  expect(message).toContain('imports[2]: agent is a directory, not a file.')
})

test.each(['npm: "@acme/tools/files.yaml"', '{ file: a.yaml }', '{}'])(
  'an import written as %s is answered with how to write it',
  async (entry) => {
    const message = await complaint({ 'agent.yaml': importing(entry) })
    expect(message).toContain(
      'agent/agent.yaml:4:5: imports[0]: must be a path, or { atip: <file> } for a description in ATIP.',
    )
    expect(message).toContain('As in: - ./tools/files.yaml')
  },
)

test('a path that cannot be one is refused like any other', async () => {
  const message = await complaint({ 'agent.yaml': importing('"a\\0b"', 'a'.repeat(5000)) })
  expect(message).toContain('imports[0]: "a\\x00b" cannot be read')
  expect(message).toContain('imports[1]: ')
  expect(message).toContain('name too long')
})

test('links that lead in a circle are said to', async () => {
  const home = await agentOf({ 'agent.yaml': importing('one.yaml') })
  await symlink('two.yaml', join(home, 'one.yaml'))
  await symlink('one.yaml', join(home, 'two.yaml'))
  expect(await complaintAbout(home)).toContain(
    'agent/agent.yaml:4:5: imports[0]: "one.yaml" is a symbolic link that leads to itself.',
  )
})

test('an override that is met along several ways is listed once', async () => {
  const { agent } = await load({
    'agent.yaml': importing('left.yaml', 'right.yaml'),
    'left.yaml': 'imports: [a.yaml, b.yaml]\n',
    'right.yaml': 'imports: [a.yaml, b.yaml]\n',
    'a.yaml': tool('greet'),
    'b.yaml': tool('greet'),
  })
  expect(agent.overrides).toHaveLength(1)
})

test('a tool may not be called ask_human', async () => {
  expect(await complaint({ 'agent.yaml': `${MINIMAL['agent.yaml']}${tool('ask_human')}` })).toContain(
    'reserved',
  )
})

function prefixed(directory: string, agent: string): Record<string, string> {
  const files = { ...MINIMAL, 'agent.yaml': agent }
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [join(directory, name), text ?? '']))
}
