import { mkdir, symlink } from 'node:fs/promises'
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
  const project = await directoryOf({
    ...prefixed('agent', importing('../agent-shared/tools.yaml')),
    'agent-shared/tools.yaml': tool('near'),
  })
  expect(await complaintAbout(join(project, 'agent'))).toContain("outside of the agent's directory.")
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
  const link = join(home, 'node_modules/@acme') // which a sandboxed tool must not lead elsewhere
  expect(agent.imported).toEqual([
    join(store, 'tools/files.yaml'),
    store,
    link,
    join(store, 'tools/more.yaml'),
  ])
})

test('npm: looks in the directories around the agent, as Node does', async () => {
  const project = await directoryOf({
    'node_modules/acme/all.yaml': tool('acme'),
    ...prefixed('agents/one', importing('npm:acme/all.yaml')),
  })
  const { agent } = await loadAgent(join(project, 'agents/one'), { env: {} })
  expect([...agent.tools.keys()]).toEqual(['acme'])
})

const packaged = (version: string | undefined, text = tool('read')) => ({
  'node_modules/@acme/kit/package.json': JSON.stringify({ name: '@acme/kit', version }),
  'node_modules/@acme/kit/all.yaml': text,
})

test.each(['^1.2', '1.x', '>=1 <2', '1.2.3', '*'])('npm: takes a version in the range %s', async (range) => {
  const { agent } = await load({
    'agent.yaml': importing(JSON.stringify(`npm:@acme/kit@${range}/all.yaml`)),
    ...packaged('1.2.3'),
  })
  expect([...agent.tools.keys()]).toEqual(['read'])
})

test.each([
  [
    '^2',
    '1.2.3',
    '@acme/kit is 1.2.3 here, and npm:@acme/kit@^2 is wanted.\n',
    'Run npm install @acme/kit@^2, or change the range.',
  ],
  [
    '^1',
    '1.2.3-rc.1',
    '@acme/kit is 1.2.3-rc.1 here, and npm:@acme/kit@^1 is wanted.\n',
    'or change the range.',
  ],
  ['newest', '1.2.3', '"newest" is not a range of versions, as ^1.2 is.\n', ''],
  ['^1', undefined, 'node_modules/@acme/kit does not say its version.\n', ''],
])('npm: explains that %s is not the version %s', async (range, version, message, hint) => {
  const files = { 'agent.yaml': importing(`npm:@acme/kit@${range}/all.yaml`), ...packaged(version) }
  const said = await complaint(files)
  expect(said).toContain(message)
  expect(said).toContain(hint)
})

test('a version directory in a package is a part of the path, as before', async () => {
  const { agent } = await load({
    'agent.yaml': importing('npm:@acme/kit/v1.0.0/base.yaml'),
    ...packaged('7.0.0'),
    'node_modules/@acme/kit/v1.0.0/base.yaml': tool('base'),
  })
  expect([...agent.tools.keys()]).toEqual(['base'])
})

test('K7: a tool of a package gets no key that only the package names', async () => {
  const keyed = 'tools:\n  - { name: ask, exec: ask, pass_env: [OPENAI_API_KEY] }\n'
  const files = { 'agent.yaml': importing('npm:@acme/kit/all.yaml'), ...packaged('1.0.0', keyed) }
  const { agent, warnings, home } = await load(files)
  expect(agent.tools.get('ask')?.settings.passEnv).toEqual([])
  expect(agent.snapshot.config.tools).not.toMatchObject([{ pass_env: expect.anything() }])
  expect(texts(warnings, home)).toEqual([
    'agent/node_modules/@acme/kit/all.yaml:2: tools[0].pass_env: OPENAI_API_KEY is not passed on to a tool of a package. Define "ask" in your own file, or --set tools.ask.pass_env=[OPENAI_API_KEY].',
  ])
  const set = await load(files, { overrides: ['tools.ask.pass_env=[OPENAI_API_KEY]'] })
  expect(set.agent.tools.get('ask')?.settings.passEnv).toEqual(['OPENAI_API_KEY'])
  const other = await load(files, { overrides: ['tools.ask.timeout_ms=5'] })
  expect(other.agent.tools.get('ask')?.settings.passEnv).toEqual([])
  const own = await load({ ...files, 'agent.yaml': `${files['agent.yaml']}${keyed}` })
  expect(own.agent.tools.get('ask')?.settings.passEnv).toEqual(['OPENAI_API_KEY'])
})

const BY_ENTRY = 'agent/agent.yaml:4:5: imports[0]: '

test.each<[string, string]>([
  ['npm:acme/../../secret.yaml', `${BY_ENTRY}"npm:acme/../../secret.yaml" leads out of the package, to `],
  ['npm:missing/a.yaml', 'the package "missing" is not installed.'],
  ['npm:missing/a.yaml', '\nInstall it there: cd agent && npm install missing'],
  ['npm:acme/none.yaml', 'the package in agent/node_modules/acme has no file "none.yaml".'],
  ...['npm:acme', 'npm:../a.yaml', 'npm:@x/../a.yaml', 'npm:./a.yaml'].map((entry): [string, string] => [
    entry,
    `"${entry}" is not of the form npm:<package>/<file>.`,
  ]),
  [
    'https://example.com/a.yaml',
    '"https://example.com/a.yaml" is not a file; nothing is fetched from elsewhere.',
  ],
  ['tols.yaml', `${BY_ENTRY}"tols.yaml" does not exist in agent.`],
  ['agent.yaml', 'the imports go in a circle: agent/agent.yaml → agent/agent.yaml.'],
  ['notes.yaml', 'agent/notes.yaml:1:1: An imported file must contain a list "tools:".'],
  ['bad.yaml', 'agent/bad.yaml:2:27: tools[0] "bad": '],
  ['empty.yaml', 'agent/empty.yaml:1:1: must be a mapping, got nothing.'],
  ['./tools', `${BY_ENTRY}agent/tools is a directory, not a file.\n  - ./tools\n    ^`],
  ...['npm: "@acme/tools/files.yaml"', '{ file: a.yaml }', '{}'].map((entry): [string, string] => [
    entry,
    `${BY_ENTRY}must be a path, or { atip: <file> } for a description in ATIP (Agent Tool Introspection Protocol).\n`,
  ]),
  ['{ mcp: { command: [x] } }', `${BY_ENTRY}an agent does not start MCP servers when it is loaded.\n`],
  [
    'keys.yaml',
    'agent/keys.yaml:2:40: tools[0].pass_env: OPENAI_API_KEY is not passed to a tool of an MCP server here.',
  ],
  ['"a\\0b"', `${BY_ENTRY}"a\\x00b" cannot be read`],
  ['a'.repeat(5000), 'name too long'],
  ['circle.yaml', '"circle.yaml" is a symbolic link that leads to itself.'],
])('an import that leads to no tools is explained: %s', async (entry, expected) => {
  const home = await agentOf({
    'agent.yaml': importing(entry),
    'node_modules/acme/package.json': '{}',
    'node_modules/@x/y': '',
    'secret.yaml': tool('secret'),
    'a.yaml': tool('a'),
    'bad.yaml': tool('bad', '"a | b"'),
    'notes.yaml': 'description: Notes.\n',
    'empty.yaml': '# later\n',
    'keys.yaml':
      'mcp: { name: x, command: [x] }\ntools: [{ name: k, exec: ls, pass_env: [OPENAI_API_KEY] }]\n',
    'tools/b.yaml': tool('b'),
  })
  await symlink('circle.yaml', join(home, 'circle.yaml'))
  expect(await complaintAbout(home)).toContain(expected)
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
