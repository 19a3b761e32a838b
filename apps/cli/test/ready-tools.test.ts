import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, journalOf } from './delta.js'

const MANIFEST = fileURLToPath(new URL('../../../packages/tools/package.json', import.meta.url))
const version = async () => (JSON.parse(await readFile(MANIFEST, 'utf8')) as { version: string }).version

/** An agent whose tools are these imports and nothing else. */
const agentWith = (imports: string[], options: Parameters<typeof temporaryAgent>[0] = {}) =>
  temporaryAgent({ agent: { imports }, ...options, onCleanup: onTestFinished })

const CODE = 'export function add(a, b) {\r\n  return a - b\r\n}\r\n\r\nexport const zero = 0'
const TEST =
  "import { add } from './add.mjs'\r\nif (add(2, 3) !== 5) throw new Error(`add(2, 3) is ${add(2, 3)}`)\r\n"

test('an agent made of @delta/tools alone fixes a bug in a repository with CRLF files, and leaves nothing else behind', async () => {
  const agent = await agentWith(['npm:@delta/tools/files.yaml', 'npm:@delta/tools/shell.yaml'], {
    turns: [
      calls('list', { depth: 2 }),
      calls('shell', { command: 'node src/add.test.mjs 2>&1 | grep Error:' }),
      calls('search', { pattern: 'function add', glob: '*.mjs' }),
      calls('read', { path: 'src/add.mjs' }),
      calls('edit', {
        path: 'src/add.mjs',
        edits: [{ old: 'add(a, b) {\n  return a - b', new: 'add(a, b) {\n  return a + b' }],
      }),
      calls('shell', { command: 'node src/add.test.mjs && echo passed' }),
      calls('write', { path: 'notes/fix.md', content: 'It subtracted.\n' }),
      { content: 'Fixed: {{last_observation}}' },
    ],
  })
  const files = {
    'src/add.mjs': CODE,
    'src/add.test.mjs': TEST,
    '.gitignore': '*.log\n',
    'a.log': 'function add',
  }
  const workspace = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  const run = await delta(['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Fix add', '-q'])
  expect(run).toMatchObject({ exitCode: 0, stdout: 'Fixed: Created notes/fix.md (15 bytes).\n' })
  const events = (await journalOf(workspace.path)) as unknown as Record<string, unknown>[]
  const seen = events.flatMap(({ type, observation_content: seen }) =>
    type === 'ACTION_RESULT' ? [seen] : [],
  )
  expect(seen.slice(0, 6)).toEqual([
    '.delta/\n.gitignore\na.log\nsrc/\nsrc/add.mjs\nsrc/add.test.mjs\n',
    expect.stringContaining('Error: add(2, 3) is -1'),
    'src/add.mjs:1:export function add(a, b) {\n',
    '     1\texport function add(a, b) {\n     2\t  return a - b\n     3\t}\n     4\t\n     5\texport const zero = 0\n',
    expect.stringMatching(
      /-export function add.*\r?\n- {2}return a - b\r?\n\+export function add.*\r?\n\+ {2}return a \+ b/,
    ),
    'passed\n',
  ])
  expect(await workspace.read('src/add.mjs')).toBe(CODE.replace('a - b', 'a + b'))
  const left = (await workspace.files()).filter((path) => !path.startsWith('.delta/'))
  expect(left).toEqual(['.gitignore', 'a.log', 'notes/fix.md', 'src/add.mjs', 'src/add.test.mjs'])
})

test('init names the version that it ships, the agent has no other, and one that is installed comes first', async () => {
  const directory = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const at = (...words: string[]) => delta(words, { cwd: directory.path })
  await at('init', 'made')
  const shipped = await version()
  const range = `^${shipped.split('.').slice(0, 2).join('.')}`
  expect(await directory.read('made/agent.yaml')).toContain(`- npm:@delta/tools@${range}/files.yaml\n`)
  expect((await at('tool', 'expand', 'made')).stdout).toContain('${TOOL_HOME}/edit.mjs')

  const old = await agentWith(['npm:@delta/tools@^0.0.9/files.yaml'])
  expect((await delta(['config', '--agent', old.path])).stderr).toContain(
    `imports[0]: npm:@delta/tools@^0.0.9 is wanted; this delta ships ${shipped}.`,
  )
  const own = await agentWith(['npm:@delta/tools@^9/files.yaml'], {
    files: {
      'node_modules/@delta/tools/package.json': '{"version":"9.1.0"}',
      'node_modules/@delta/tools/files.yaml': 'tools: [{ name: mine, exec: ls }]\n',
    },
  })
  expect((await delta(['tool', 'expand', own.path])).stdout).toContain('name: mine')
})

test('a policy without destructive effects keeps the shell out, and the tools for files in', async () => {
  const agent = await agentWith(['npm:@delta/tools/files.yaml', 'npm:@delta/tools/shell.yaml'], {
    turns: [
      calls('shell', { command: 'echo x' }),
      calls('write', { path: 'a', content: 'x' }),
      { content: 'Done.' },
    ],
    agent: {
      imports: ['npm:@delta/tools/files.yaml', 'npm:@delta/tools/shell.yaml'],
      policy: { allow_network: false },
    },
  })
  const workspace = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await delta(['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go', '-q'])
  const events = (await journalOf(workspace.path)) as unknown as Record<string, unknown>[]
  const seen = events.flatMap(({ type, status }) => (type === 'ACTION_RESULT' ? [status] : []))
  expect(seen).toEqual(['BLOCKED', 'SUCCESS'])
})

test('an image that read finds is a part of the result', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const agent = await agentWith(['npm:@delta/tools/files.yaml'], {
    turns: [calls('read', { path: 'dot.png' }), { content: 'A dot.' }],
  })
  const workspace = await temporaryWorkspace({ 'dot.png': png }, { onCleanup: onTestFinished })
  await delta(['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Look', '-q'])
  const events = (await journalOf(workspace.path)) as unknown as Record<string, unknown>[]
  const result = events.find(({ type }) => type === 'ACTION_RESULT') as { parts?: object[] }
  expect(result.parts).toEqual([expect.objectContaining({ type: 'image', media_type: 'image/png' })])
})
