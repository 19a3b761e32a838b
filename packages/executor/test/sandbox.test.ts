import { readdir, symlink } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type CallContext, defineTool, prepareCall, quoteCommand, type Tool } from '../src/index.js'
import { run, script } from './sandboxed.js'
import { workspace } from './workspace.js'

const prepare = (tool: Tool, context: Partial<CallContext> = {}) => {
  const variables = { AGENT_HOME: '/agent', CWD: '/work' }
  const call = { name: 'tool', arguments: {} }
  const prepared = prepareCall(new Map([['tool', tool]]), call, { variables, ...context })
  if (prepared.decision === 'refuse') throw new Error(prepared.observation)
  return prepared
}

test('a sandbox is words in front of the command, to be seen wherever the command is', () => {
  const sandbox = { network: true, write: ['CWD/out', '~/cache'], read: ['/opt/data'] }
  const { argv, resolvedCommand: line } = prepare(script('true', sandbox, { cwd: 'sub' }))
  expect(argv.slice(-4)).toEqual(['--', 'sh', '-c', 'true'])
  expect(line).toMatch(/^bwrap --die-with-parent --new-session --unshare-pid /)
  expect(line).not.toContain('--unshare-net')
  expect(line).toContain('--ro-bind /work /work --ro-bind /opt/data /opt/data')
  const cache = join(homedir(), 'cache')
  expect(line).toContain(`--bind /work/out /work/out ${quoteCommand(['--bind', cache, cache])} `)
  expect(line).toContain('--chdir /work/sub -- sh -c true')
})

test('delta mcp call stays outside, and is told how its server is confined; another path of delta is not believed', async () => {
  const definition = (program: string) =>
    defineTool({ name: 'tool', exec: `${program} mcp call /agent/x.yaml add`, sandbox: { network: true } })
  const { argv, sandbox, serverSandbox } = prepare(definition('delta'))
  expect(argv).toEqual(['delta', 'mcp', 'call', '/agent/x.yaml', 'add'])
  expect(sandbox).toBeUndefined()
  expect(serverSandbox?.prefix.slice(0, 2)).toEqual(['bwrap', '--die-with-parent'])
  expect(prepare(definition('/work/delta')).argv[0]).toBe('bwrap')
})

test('what the agent imports is read-only where a writable path holds it, with the directory of each file', async () => {
  const { path } = await workspace({
    'node_modules/kit/a.yaml': '',
    'lib/b.yaml': '',
    'c.yaml': '',
    'bot/x': '',
  })
  const inside = (...names: string[]) => names.map((name) => join(path, name))
  const imported = [
    '/etc/hostname',
    ...inside('node_modules/kit/a.yaml', 'node_modules/kit', 'lib/b.yaml', 'c.yaml'),
  ]
  const words = prepare(script('true', { write: ['CWD', 'CWD/lib/out'] }), {
    variables: { AGENT_HOME: join(path, 'bot'), CWD: path },
    imported,
  }).argv
  const mounted = (option: string) =>
    words.flatMap((word, at) => (word === option && words[at + 1]?.startsWith(path) ? [words[at + 1]] : []))
  expect(mounted('--ro-bind').toSorted()).toEqual(
    inside('', 'bot', 'bot', 'c.yaml', 'lib/b.yaml', 'node_modules/kit').map((each) =>
      each.replace(/\/$/, ''),
    ),
  )
  expect(mounted('--bind').toSorted()).toEqual([path, ...inside('lib', 'lib/out', 'node_modules')])
})

test('the home directory of the account is hidden, whatever HOME says', async () => {
  const { path } = await workspace()
  const before = process.env.HOME
  process.env.HOME = path
  try {
    const line = prepare(script('true')).resolvedCommand
    expect(line).toContain(`--tmpfs ${path} --tmpfs ${userInfo().homedir} `)
  } finally {
    process.env.HOME = before
  }
})

test('runs that are kept outside the workspace are hidden, before and after the paths that may hold them are shown', async () => {
  const { path } = await workspace({ 'runs/x': '', 'agent/x': '' })
  const words = (AGENT_HOME: string) =>
    prepare(script('true', { read: [path] }), {
      variables: { AGENT_HOME, CWD: '/work' },
      runsDirectory: join(path, 'runs'),
    }).resolvedCommand
  const hidden = `--tmpfs ${path}/runs`
  const line = words(join(path, 'agent'))
  expect(line.indexOf(hidden)).toBeLessThan(line.indexOf(`--ro-bind ${path} `))
  expect(line.lastIndexOf(hidden)).toBeGreaterThan(line.indexOf(`--ro-bind ${path} `))
  const inside = words(join(path, 'runs/agent')) // hidden again, the agent would be, too
  expect(inside.lastIndexOf(hidden)).toBeLessThan(inside.indexOf(`--ro-bind ${path}/runs/agent `))
})

test('what the command line remembers for the user is hidden, also where a listed path shows it', async () => {
  const { path } = await workspace({ 'state/runs.jsonl': '', 'agent/x': '' })
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('DELTA_STATE_DIR', join(path, 'state'))
  vi.stubEnv('HOME', path)
  const words = (settings: Parameters<typeof script>[1]) => prepare(script('true', settings)).resolvedCommand
  const hidden = `--tmpfs ${path}/state`
  const line = words({ write: [path] })
  expect(line.indexOf(hidden)).toBeGreaterThan(line.indexOf(`--bind ${path} `))
  expect(words({})).not.toContain(hidden) // it lies in the home directory, which is hidden
})

test('the states of sessions, which are code, are hidden from every tool but delta-sessions', async () => {
  const { path } = await workspace({ 'sub/.sessions/one/env': '' })
  const words = (...command: string[]) =>
    prepare(defineTool({ name: 'tool', command, sandbox: true }), {
      variables: { AGENT_HOME: '/agent', CWD: path },
    }).resolvedCommand
  expect(words('sh')).toContain(`--tmpfs ${path}/sub/.sessions --tmpfs ${path}/.sessions`)
  expect(words('sh')).toContain(`--bind ${path}/sub ${path}/sub `) // so that it cannot be moved away
  expect(words('./delta-sessions')).toContain(`--tmpfs ${path}/.sessions`)
  expect(words('delta-sessions', 'list')).not.toContain('.sessions ')
})

test('without bubblewrap the tool is refused, never run without', async () => {
  const { path, has } = await workspace()
  const result = await run('touch done', path, true, { env: { PATH: '/nowhere' } })
  expect(result).toMatchObject({ status: 'BLOCKED', exitCode: null })
  expect(result.observation).toBe(
    'BLOCKED: the sandbox of "tool" cannot start, and without it the tool is not run. bubblewrap is not installed. Install it (Debian, Ubuntu: apt install bubblewrap).',
  )
  expect(has('done')).toBe(false)
})

test('a path of the sandbox where a tool has made a link out of the workspace is refused, not opened', async () => {
  const [directory, elsewhere] = [await workspace(), await workspace()]
  await symlink(elsewhere.path, join(directory.path, 'out'))
  for (const key of ['read', 'write']) {
    const result = await run('touch out/written', directory.path, { [key]: ['CWD/out'] })
    expect(result).toMatchObject({
      status: 'BLOCKED',
      observation: `BLOCKED: the sandbox of "tool" cannot start, and without it the tool is not run. ${directory.path}/out is a link that leads out of the workspace.`,
    })
  }
  expect(await readdir(elsewhere.path)).toEqual([])
})
