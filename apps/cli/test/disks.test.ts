import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  runProcess,
  smallDisk,
  startScriptedServer,
  temporaryAgent,
  temporaryWorkspace,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { cleanEnvironment, DELTA, delta, eventTypes, startDelta } from './delta.js'

const KEY = { DELTA_API_KEY: 'test-key-not-real' }
const isRoot = process.getuid?.() === 0
if (isRoot)
  console.warn('SKIPPED: root may write everywhere, so directories without permission are not tested.')

test('a umask that takes the owner every permission takes none from what a run and a session keep', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({})
  const script = 'umask 0777; "$@"'
  const command = (...args: string[]) => ['sh', '-c', script, '--', process.execPath, DELTA, ...args]
  const run = command('run', '--agent', agent.path, '-m', 'Go', '-w', `${workspace.path}/new`, '-q')
  expect(await runProcess(run, { env: cleanEnvironment() })).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const start = command('sessions', 'start', '--sessions-dir', `${workspace.path}/new/sessions`)
  expect(await runProcess(start, { env: cleanEnvironment() })).toMatchObject({ exitCode: 0 })
  const modes = await runProcess(['find', workspace.path, '-not', '-type', 'l', '-printf', '%y%m\n'])
  expect(new Set(modes.stdout.trim().split('\n'))).toEqual(new Set(['d700', 'f600']))
})

test.skipIf(isRoot)('a workspace that cannot be written is named, and no tool is started', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({})
  await chmod(workspace.path, 0o500)
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  await chmod(workspace.path, 0o700)
  expect(result.exitCode).not.toBe(0)
  expect(result.stderr).toContain(workspace.path)
  expect(result.stderr).not.toMatch(/^\s+at /m)
})

test.skipIf(isRoot).each([
  ['500', '.delta/one/io/tool_executions'],
  ['000', '.delta'],
])(
  'a run whose files may not be written any more is not failed: it goes on once they may (%s %s)',
  async (mode, directory) => {
    await using agent = await temporaryAgent({
      tools: [{ name: 'close', shell: `chmod ${mode} ${directory}` }],
      turns: [{ tool_calls: [{ name: 'close', arguments: {} }] }, { content: 'Done.' }],
    })
    await using workspace = await temporaryWorkspace({})
    const args = ['--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one']
    const closed = await delta(['run', ...args])
    await chmod(join(workspace.path, directory), 0o700)
    expect(closed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(closed.stderr).toMatch(/^Error: \/.*: Could not be written: permission denied \(EACCES\)\.$/m)
    expect(closed.stderr).toContain(`Go on with: delta continue -w ${workspace.path} --run-id one\n`)
    expect(await delta(['continue', '-w', workspace.path])).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  },
)

test('a disk that may only be read is named, and nothing is started', async ({ skip }) => {
  await using agent = await temporaryAgent({})
  await using disk = await smallDisk()
  if (!disk.mounted) return skip()
  disk.makeReadOnly()
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path])
  expect(result.exitCode).not.toBe(0)
  expect(result.stdout).toBe('')
  expect(result.stderr).toMatch(/^Error: .*EROFS/m)
  expect(result.stderr).toContain(disk.path)
  expect(result.stderr).not.toMatch(/^\s+at /m)
})

test('a workspace that is a file, or cannot be made, is one clear message and exit code 2', async () => {
  await using agent = await temporaryAgent({})
  await using directory = await temporaryWorkspace({ file: '' })
  for (const path of ['file', 'file/below']) {
    const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', join(directory.path, path)])
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain(`Error: -w ${join(directory.path, path)}: `)
    expect(result.stderr).not.toMatch(/^\s+at /m)
  }
})

test('a .delta that is no directory is one clear message', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({ '.delta': '' })
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(result.exitCode).not.toBe(0)
  expect(result.stderr).toContain('.delta')
  expect(result.stderr).not.toMatch(/^\s+at /m)
})

test('a workspace deleted under a run ends it with the cause, not with a stack trace', async () => {
  await using server = await startScriptedServer([{ content: 'Done.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  await server.waitForRequests(1)
  await rm(workspace.path, { recursive: true })
  await server.release('thinking')
  const result = await engine.result
  expect(result.exitCode).not.toBe(0)
  expect(result.stdout).toBe('')
  expect(result.stderr).toContain('Error: ')
  expect(result.stderr).not.toMatch(/^\s+at /m)
  expect(result.stderr).not.toContain('COMPLETED')
})

test('a command that deletes its own workspace ends the run with words about that', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'tidy', shell: 'rm -rf "$PWD"' }],
    turns: [{ tool_calls: [{ name: 'tidy', arguments: {} }] }, { content: 'Done.' }],
  })
  await using home = await temporaryWorkspace({})
  const args = [
    'run',
    '--agent',
    agent.path,
    '-m',
    'Go',
    '-w',
    join(home.path, 'made'),
    '-q',
    '--run-id',
    'one',
  ]
  const run = join(home.path, 'made/.delta/one')
  expect(await delta(args)).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: `Error: ${run}: The run can no longer be recorded: its directory is gone.
It, or its whole workspace, was deleted or moved during the run. If it was moved, put it back and continue the run; a deleted run cannot be continued.
`,
  })
})

test('a workspace that a run made and somebody deleted is said to be gone; nobody is told to make it', async () => {
  await using server = await startScriptedServer([{ content: 'Done.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using home = await temporaryWorkspace({})
  const workspace = join(home.path, 'made')
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace, '-q']
  const engine = startDelta(args, { env: KEY })
  await server.waitForRequests(1)
  await rm(workspace, { recursive: true })
  await server.release('thinking')
  const result = await engine.result
  expect(result).toMatchObject({ exitCode: 1, stdout: '' })
  expect(result.stderr).toContain(workspace)
  expect(result.stderr).toContain('deleted or ')
  expect(result.stderr).not.toContain('Make it')
  expect(home.has('made')).toBe(false)
})

test('a full disk ends a run with the cause, starts no further tool, and the run goes on once there is room', async ({
  skip,
}) => {
  await using server = await startScriptedServer([
    { tool_calls: [{ name: 'fill', arguments: {} }] },
    { tool_calls: [{ name: 'after', arguments: {} }] },
    { content: 'Done.' },
  ])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools: [
      { name: 'fill', shell: 'head -c 2000000 /dev/zero > big' },
      { name: 'after', shell: 'touch ran' },
    ],
  })
  await using disk = await smallDisk()
  if (!disk.mounted) return skip()
  const failed = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path], { env: KEY })
  expect(failed.exitCode).not.toBe(0)
  expect(failed.stderr).toContain('ENOSPC')
  expect(failed.stderr).not.toMatch(/^\s+at /m)
  expect(existsSync(join(disk.path, 'ran'))).toBe(false)

  await rm(join(disk.path, 'big'))
  const result = await delta(['continue', '-w', disk.path, '-m', 'There is room again'], { env: KEY })
  expect(result, result.stderr).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('a disk on which no file can be made leaves the run to be continued without a message, and says what is lost', async ({
  skip,
}) => {
  await using agent = await temporaryAgent({
    tools: [
      { name: 'fill', shell: 'n=0; while touch x$n; do n=$((n+1)); done 2>/dev/null' },
      { name: 'after', exec: 'echo ran' },
    ],
    turns: [
      { tool_calls: [{ name: 'fill', arguments: {} }] },
      { tool_calls: [{ name: 'after', arguments: {} }] },
      { content: 'Done.' },
    ],
  })
  await using disk = await smallDisk('size=4m,nr_inodes=60')
  if (!disk.mounted) return skip()
  const full = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path, '--run-id', 'one'])
  expect(full).toMatchObject({ exitCode: 1, stdout: '' })
  expect(full.stderr).toMatch(
    /^Error: \/.*: Could not be written: no space is left on the disk \(ENOSPC\)\.$/m,
  )
  expect(full.stderr).toContain('Free some space, then continue.\n')
  expect(full.stderr).toContain(`\nGo on with: delta continue -w ${disk.path} --run-id one\n`)

  for (const file of await readdir(disk.path)) if (file.startsWith('x')) await rm(join(disk.path, file))
  const result = await delta(['continue', '-w', disk.path, '--run-id', 'one'])
  expect(result, result.stderr).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('what a command printed onto a full disk is said to be lost in part', async ({ skip }) => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'fill', shell: 'head -c 9000000 /dev/zero > big' }],
    turns: [{ tool_calls: [{ name: 'fill', arguments: {} }] }, { content: 'Done.' }],
  })
  await using disk = await smallDisk()
  if (!disk.mounted) return skip()
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path])
  expect(stderr).toContain('[exit code 1; the disk is full: what it printed may be lost in part]')
})

test('a tool whose record finds no room is not started, and runs once when there is room again', async ({
  skip,
}) => {
  await using server = await startScriptedServer([
    { tool_calls: [{ name: 'note', arguments: {} }], hold: 'full' },
    { content: 'Done.' },
  ])
  const tools = [{ name: 'note', shell: 'echo ran >> "$AGENT_HOME/witness"' }]
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl, tools })
  await using disk = await smallDisk()
  if (!disk.mounted) return skip()
  const run = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path], { env: KEY })
  await server.waitForRequests(1)
  spawnSync('sh', ['-c', 'head -c 9000000 /dev/zero > big'], { cwd: disk.path })
  server.release('full')
  const full = await run.result
  expect(full).toMatchObject({ exitCode: 1, stdout: '' })
  expect(full.stderr).toMatch(
    /io\/tool_executions\/\w+\.json: Could not be written: no space is left on the disk \(ENOSPC\)/,
  )
  expect(full.stderr).not.toContain('is not recorded')
  expect(await eventTypes(disk.path)).not.toContain('ACTION_REQUEST')

  await rm(join(disk.path, 'big'))
  const result = await delta(['continue', '-w', disk.path], { env: KEY })
  expect(result, result.stderr).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(await agent.read('witness')).toBe('ran\n')
})

test('a full disk on which a run cannot be taken up is named, and the run keeps no trace of the attempt', async ({
  skip,
}) => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }, { content: 'More.' }] })
  await using disk = await smallDisk('size=400k,nr_inodes=60')
  if (!disk.mounted) return skip()
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path, '--run-id', 'one', '-q'])
  const goOn = ['continue', '-w', disk.path, '-m', 'More', '-q']
  const leases = join(disk.path, '.delta/one/lease')
  const fill = {
    'no byte is left': ['head -c 9000000 /dev/zero > big', 'rm big'],
    'no file can be made': ['while touch x$((n += 1)); do :; done', 'rm x*'],
    'one file can be made': ['while touch x$((n += 1)); do :; done; rm x1', 'rm x*'],
  }
  for (const [what, [full = '', free = '']] of Object.entries(fill)) {
    spawnSync('sh', ['-c', full], { cwd: disk.path })
    const { exitCode, stderr } = await delta(goOn)
    expect([what, exitCode]).toEqual([what, 1])
    expect(stderr, what).toMatch(
      /^Error: \/.*\/lease(?:\/2)?: Could not be written: no space is left on the disk \(ENOSPC\)\.\nWhat was recorded before is whole\. Free some space, then continue\.\n$/,
    )
    expect(await readdir(leases), what).toEqual(['1'])
    spawnSync('sh', ['-c', free], { cwd: disk.path })
  }
  expect(await delta(goOn)).toMatchObject({ exitCode: 0, stdout: 'More.\n', stderr: '' })
})
