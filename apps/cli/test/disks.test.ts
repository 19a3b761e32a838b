import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, smallDisk, temporaryAgent, temporaryWorkspace, waitForExit } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  calls,
  cleanEnvironment,
  DELTA,
  delta,
  eventTypes,
  KEY,
  records,
  scene,
  served,
  startDelta,
} from './delta.js'

const isRoot = process.getuid?.() === 0
if (isRoot)
  console.warn('SKIPPED: root may write everywhere, so directories without permission are not tested.')

/** What every message keeps to: where, what, what to do, and never how the program is built. */
function expectPlain(stderr: string): void {
  expect(stderr).toMatch(/^Error: .+: .+ \(E[A-Z]+\)\.\n.+\.$/m)
  expect(stderr).not.toMatch(/^\s+at |node:internal|syscall/m)
}

test('a umask that takes the owner every permission takes none from what a run and a session keep', async () => {
  const { words, workspace } = await scene()
  const line = (...args: string[]) => ['sh', '-c', 'umask 0777; "$@"', '--', process.execPath, DELTA, ...args]
  const into = join(workspace.path, 'new')
  const ran = await runProcess(line(...words('run', '-w', into, '-q')), { env: cleanEnvironment() })
  expect(ran).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const session = line('sessions', 'start', '--sessions-dir', join(into, 'sessions'))
  expect(await runProcess(session, { env: cleanEnvironment() })).toMatchObject({ exitCode: 0 })
  const modes = await runProcess(['find', workspace.path, '-not', '-type', 'l', '-printf', '%y%m\n'])
  expect(new Set(modes.stdout.trim().split('\n'))).toEqual(new Set(['d700', 'f600']))
})

test.skipIf(isRoot).each([
  ['500', '.delta/one/io/tool_executions'],
  ['000', '.delta'],
])(
  'a run whose files may not be written any more is not failed: it goes on once they may (%s %s)',
  async (mode, name) => {
    const { run, at, workspace } = await scene({
      tools: [{ name: 'close', shell: `chmod ${mode} ${name}` }],
      turns: [calls('close'), { content: 'Done.' }],
    })
    const closed = await run('--run-id', 'one')
    await chmod(join(workspace.path, name), 0o700)
    expect(closed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(closed.stderr).toMatch(/^Error: \/.*: Could not be written: permission denied \(EACCES\)\.$/m)
    expect(closed.stderr).toContain(`Go on with: delta continue -w ${workspace.path} --run-id one\n`)
    expect((await at('continue')).stdout).toBe('Done.\n')
  },
)

test('a read-only file system is named, nothing is started, and nothing is said of going on', async ({
  skip,
}) => {
  await using disk = await smallDisk()
  if (!disk.mounted) return skip()
  await mkdir(join(disk.path, '.delta'))
  disk.makeReadOnly()
  const { run } = await scene()
  const result = await run('-w', disk.path)
  expect(result).toMatchObject({ exitCode: 1, stdout: '' })
  expect(result.stderr).toMatch(
    /^Error: .*: Could not be written: the file system is read-only \(EROFS\)\.$/m,
  )
  expect(result.stderr).toContain('The run was not started. Mount it read-write, or use another directory')
  expect(result.stderr).not.toContain('ontinue')
})

test('a workspace that is deleted during a run ends it with that, and is not made again', async () => {
  records.skip('the runs are deleted with the workspace')
  const { words, server, workspace } = await served([calls('tidy'), { content: 'Done.', hold: 'thinking' }], {
    tools: [{ name: 'tidy', shell: '[ -e kept ] || rm -rf "$PWD"' }],
  })
  const made = join(workspace.path, 'made')
  const run = (...flags: string[]) => startDelta(words('run', '-w', made, '-q', ...flags), { env: KEY })
  const itself = await run('--run-id', 'one').result
  expect(itself).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: `Error: ${made}/.delta/one: The run can no longer be recorded: its directory is gone.
It, or its whole workspace, was deleted or moved during the run. If it was moved, put it back and continue the run; a deleted run cannot be continued.
`,
  })
  expect(existsSync(made)).toBe(false)

  await workspace.write('made/kept', '')
  const engine = run()
  await server.waitForRequests(3)
  await rm(made, { recursive: true })
  await server.release('thinking')
  const result = await engine.result
  expect(result).toMatchObject({ exitCode: 1, stdout: '' })
  expect(result.stderr).toContain('deleted or ')
  expect(existsSync(made)).toBe(false)
})

describe('a full disk', () => {
  test('ends a run with the cause, starts no further tool, and the run goes on once there is room', async ({
    skip,
  }) => {
    await using disk = await smallDisk()
    if (!disk.mounted) return skip()
    // once its process is recorded: a disk that is full before ends the run there
    const recorded =
      'until grep -qs start_time "$DELTA_RUN_DIR"/io/tool_executions/*_fill.json; do sleep 0.01; done'
    const tools = [
      { name: 'fill', shell: `${recorded}; head -c 9000000 /dev/zero > big` },
      { name: 'after', shell: 'touch ran' },
    ]
    const { run, at } = await served([calls('fill'), calls('after'), { content: 'Done.' }], { tools })
    const failed = await run('-w', disk.path)
    expect(failed.exitCode).not.toBe(0)
    expect(failed.stderr).toContain('the disk is full: what it printed may be lost in part]')
    expect(failed.stderr).toContain('ENOSPC')
    expect(failed.stderr).not.toMatch(/^\s+at /m)
    expect(existsSync(join(disk.path, 'ran'))).toBe(false)
    await rm(join(disk.path, 'big'))
    const result = await at('continue', '-w', disk.path, '-m', 'There is room again')
    expect(result, result.stderr).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  })

  test('on which no file can be made leaves the run to be continued without a message', async ({ skip }) => {
    await using disk = await smallDisk('size=4m,nr_inodes=60')
    if (!disk.mounted) return skip()
    const { run } = await scene({
      tools: [
        { name: 'fill', shell: 'n=0; while touch x$n; do n=$((n+1)); done 2>/dev/null' },
        { name: 'after', exec: 'echo ran' },
      ],
      turns: [calls('fill'), calls('after'), { content: 'Done.' }],
    })
    const full = await run('-w', disk.path, '--run-id', 'one')
    expect(full).toMatchObject({ exitCode: 1, stdout: '' })
    expect(full.stderr).toMatch(
      /^Error: \/.*: Could not be written: no space is left on the disk \(ENOSPC\)\.$/m,
    )
    expect(full.stderr).toContain('Free some space, then continue.\n')
    const resume = `delta continue -w ${disk.path} --run-id one`
    expect(full.stderr).toContain(`\nGo on with: ${resume}\n`)
    for (const file of await readdir(disk.path)) if (file.startsWith('x')) await rm(join(disk.path, file))
    expect((await delta(resume.split(' ').slice(1))).stdout).toBe('Done.\n')
  })

  test('without room for the record of a tool does not start it; it runs once when there is room again', async ({
    skip,
  }) => {
    await using disk = await smallDisk()
    if (!disk.mounted) return skip()
    const tools = [{ name: 'note', shell: 'echo ran >> "$AGENT_HOME/witness"' }]
    const at = await served([{ ...calls('note'), hold: 'full' }, { content: 'Done.' }], { tools })
    const run = startDelta(at.words('run', '-w', disk.path), { env: KEY })
    await at.server.waitForRequests(1)
    spawnSync('sh', ['-c', 'head -c 9000000 /dev/zero > big'], { cwd: disk.path })
    at.server.release('full')
    const full = await run.result
    expect(full).toMatchObject({ exitCode: 1, stdout: '' })
    expect(full.stderr).toMatch(
      /io\/tool_executions\/\w+\.json: Could not be written: no space is left on the disk \(ENOSPC\)/,
    )
    expect(await eventTypes(disk.path)).not.toContain('ACTION_REQUEST')
    await rm(join(disk.path, 'big'))
    expect((await at.at('continue', '-w', disk.path)).stdout).toBe('Done.\n')
    expect(await at.agent.read('witness')).toBe('ran\n')
  })

  test('on which a run cannot be taken is named, and the run keeps no trace of the attempt', async ({
    skip,
  }) => {
    await using disk = await smallDisk('size=400k,nr_inodes=60')
    if (!disk.mounted) return skip()
    const { run, at } = await scene({ turns: [{ content: 'Done.' }, { content: 'More.' }] })
    await run('-w', disk.path, '--run-id', 'one', '-q')
    const resume = () => at('continue', '-w', disk.path, '-m', 'More', '-q')
    for (const [full, free] of [
      ['head -c 9000000 /dev/zero > big', 'rm big'],
      ['while touch x$((n += 1)); do :; done', 'rm x*'],
      ['while touch x$((n += 1)); do :; done; rm x1', 'rm x*'],
    ] as const) {
      spawnSync('sh', ['-c', full], { cwd: disk.path })
      const { exitCode, stderr } = await resume()
      expect([full, exitCode]).toEqual([full, 1])
      expect(stderr, full).toMatch(
        /^Error: \/.*\/lease(?:\/2)?: Could not be written: no space is left on the disk \(ENOSPC\)\.\nWhat was recorded before is whole\. Free some space, then continue\.\n$/,
      )
      expect(await readdir(join(disk.path, '.delta/one/lease')), full).toEqual(['1'])
      spawnSync('sh', ['-c', free], { cwd: disk.path })
    }
    expect(await resume()).toMatchObject({ exitCode: 0, stdout: 'More.\n', stderr: '' })
  })

  test('keeps no half of an agent that init makes', async ({ skip }) => {
    await using disk = await smallDisk('size=8k')
    if (!disk.mounted) return skip()
    const result = await delta(['init', join(disk.path, 'agent'), '-t', 'research'])
    expect(result).toMatchObject({ exitCode: 1, stdout: '' })
    expect(result.stderr).toContain('no space is left on the disk (ENOSPC)')
    expect(result.stderr).toContain(disk.path)
    expect(existsSync(join(disk.path, 'agent'))).toBe(false)
  })
})

test.each([
  [['run', '-m', 'Go'], 2],
  [['sessions', 'list'], 2],
  [['--help'], 0],
])('in a directory that has been deleted, %j says so if it needs one', async (args, exitCode) => {
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
  await using directory = await temporaryWorkspace({})
  const argv = ['sh', '-c', script, 'sh', process.execPath, DELTA, ...args]
  const result = await runProcess(argv, { cwd: directory.path, env: cleanEnvironment() })
  expect(result.exitCode).toBe(exitCode)
  if (exitCode !== 0) expect(result.stderr).toContain('Error: The current directory has been deleted.')
  expect(result.stderr).not.toMatch(/^\s+at /m)
})

test.each([
  [['run', '-m', '@.'], 'Error: -m @.: it is a directory, not a file (EISDIR).'],
  [['init', 'file/x'], 'Error: file/x: it is a file'],
  [['init', 'file'], 'Error: file: a file of that name is in the way (EEXIST).'],
  [['run', '-m', 'Go', '-w', 'file/x'], 'Error: -w file/x: it is a file'],
  [['run', '-m', 'Go', '-w', 'file'], 'Error: -w file: a file of that name is in the way (EEXIST).'],
  [['run', '-m', 'Go', '-w', 'x'.repeat(300)], ': the name is too long ('],
  [['run', '-m', 'Go', '-w', '/proc/x/y'], ': nothing can be created there (ENOENT).'],
  ...(isRoot
    ? []
    : [
        [['run', '-m', '@secret'], 'permission denied (EACCES)'],
        [['init', 'closed/agent'], 'permission denied (EACCES)'],
        [['run', '-m', 'Go', '-w', 'closed/w'], 'permission denied (EACCES)'],
      ]),
] as [string[], string][])(
  '%j is one message that says where, what and what to do',
  async (args, message) => {
    const agent = await temporaryAgent({ onCleanup: onTestFinished })
    const directory = await temporaryWorkspace({ file: '', secret: 'x' }, { onCleanup: onTestFinished })
    await chmod(join(directory.path, 'secret'), 0)
    await mkdir(join(directory.path, 'closed'), { mode: 0o500 })
    const agentFlag = args[0] === 'run' ? ['--agent', agent.path] : []
    const result = await delta([...args, ...agentFlag], { cwd: directory.path })
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain(message)
    expectPlain(result.stderr)
    expect(await directory.files()).toEqual(['file', 'secret'])
  },
)

test('a workspace that is not a directory is refused by every command that needs one', async () => {
  const { agent } = await scene()
  const kinds = {
    'agent.yaml': 'Error: -w agent.yaml: it is a file, not a directory.\n',
    'agent.yaml/x': 'Error: -w agent.yaml/x: it is a file, not a directory, or is below a file (',
    '': 'is invalid. It is empty.',
  }
  const commands = ['list-runs', 'continue', 'journal verify', 'context build', 'config', 'mcp serve .']
  for (const [command, place, why] of [
    ...Object.entries(kinds).map(([place, why]) => ['show', place, why] as const),
    ...commands.map((command) => [command, 'agent.yaml', kinds['agent.yaml']] as const),
  ]) {
    const result = await delta([...command.split(' '), '-w', place], { cwd: agent.path })
    expect(result, command).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain(why)
  }
})

test('an error that nobody foresaw is told in words, and a stack trace only with DELTA_DEBUG', async () => {
  const bug = 'setImmediate(() => { throw new Error("unforeseen") }); setInterval(() => {}, 1000)'
  const { words, workspace } = await scene(
    { turns: [calls('ask_human', { prompt: 'x' })] },
    { files: { 'bug.cjs': bug } },
  )
  const run = (env: Record<string, string>) =>
    delta(words('run', '-q'), { env: { NODE_OPTIONS: `--require ${workspace.path}/bug.cjs`, ...env } })
  const plain = await run({})
  expect(plain).toMatchObject({ exitCode: 1, stdout: '' })
  expect(plain.stderr).toContain('Error: unforeseen\n')
  expect(plain.stderr).not.toMatch(/^\s+at /m)
  expect((await run({ DELTA_DEBUG: '1' })).stderr).toMatch(/^\s+at .*bug\.cjs/m)
})

test('a mistake in Delta ends the commands that run, says where to report it, and leaves the run to be continued', async () => {
  const bug = `const { watch, existsSync } = require('node:fs')
    if (process.argv[2] === 'run') {
      const watcher = watch(process.cwd(), { persistent: false }, () => {
        if (existsSync('pid')) watcher.close(), unforeseen()
      })
    }`
  const { words, at, workspace } = await scene({
    tools: [{ name: 'work', shell: 'echo $$ > pid.new; mv pid.new pid; exec sleep 300' }],
    turns: [calls('work'), { content: 'Done.' }],
  })
  await writeFile(join(workspace.path, 'bug.cjs'), bug)
  const { stderr, exitCode } = await delta(words('run', '-q', '--run-id', 'one'), {
    cwd: workspace.path,
    env: { NODE_OPTIONS: `--require ${workspace.path}/bug.cjs` },
  })
  expect(exitCode).toBe(1)
  expect(stderr).toBe(
    'Error: unforeseen is not defined\n' +
      'This is a bug in Delta. Please report it, with what DELTA_DEBUG=1 adds: https://github.com/delta-engine/delta/issues\n' +
      `Stopped at once. Go on with: delta continue -w ${workspace.path} --run-id one\n`,
  )
  await waitForExit(Number(await workspace.read('pid')))
  expect((await at('list-runs', '--resumable')).stdout).toMatch(/^one +INTERRUPTED/m)
  expect((await at('continue', '-q')).stdout).toBe('Done.\n')
})
