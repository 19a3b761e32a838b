import { existsSync, readFileSync, statSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { fixtures, isAlive, waitForFile } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { type CommandOptions, killRunningCommands, runCommand } from '../src/index.js'
import { workspace } from './workspace.js'

const env = process.env

/** Runs in a directory of its own. */
async function run(argv: readonly string[], options: Partial<CommandOptions> = {}) {
  return runCommand(argv, { cwd: (await workspace()).path, env, ...options })
}

describe('A command that ends by itself', () => {
  test('gives its exit code, both streams and how long it took', async () => {
    const outcome = await run(['sh', '-c', 'echo out; echo err >&2; exit 4'])
    expect(outcome).toEqual({
      status: 'EXITED',
      exitCode: 4,
      signal: null,
      durationMs: expect.any(Number),
      stdout: { bytes: 4, head: Buffer.from('out\n'), tail: Buffer.alloc(0), omittedBytes: 0, text: 'out\n' },
      stderr: { bytes: 4, head: Buffer.from('err\n'), tail: Buffer.alloc(0), omittedBytes: 0, text: 'err\n' },
    })
  })

  test('is run without a shell: every argument arrives byte for byte', async () => {
    const words = ['$HOME', 'a b', '', '*', '"', "'", '\n', '-x', 'ü', '; touch pwned']
    const outcome = await run([fixtures.printArgv, ...words])
    expect(JSON.parse(outcome.stdout.text)).toEqual(words)
  })

  test('that kills itself is told apart from one that exits', async () => {
    const outcome = await run(['sh', '-c', 'kill -KILL $$'])
    expect(outcome).toMatchObject({ status: 'SIGNALED', exitCode: null, signal: 'SIGKILL' })
  })

  test('does not keep anybody waiting because a grandchild holds its output', async () => {
    const { path } = await workspace()
    const outcome = await run([fixtures.leaveGrandchild, '60', join(path, 'pid')])
    const grandchild = pidIn(await waitForFile(join(path, 'pid'), '\n'))

    expect(outcome).toMatchObject({ status: 'EXITED', exitCode: 0 })
    expect(isAlive(grandchild)).toBe(true) // the background is the command's own business
    process.kill(grandchild, 'SIGKILL')
  })

  test('finds its own session without a terminal, and leads its process group', async () => {
    const outcome = await run(['sh', '-c', 'ps -o pid=,pgid=,sid= -p $$'])
    const [pid, group, session] = outcome.stdout.text.trim().split(/ +/)
    expect([group, session]).toEqual([pid, pid])
  })
})

describe('Standard input', () => {
  test('is at its end when there is none', async () => {
    expect((await run(['wc', '-c'])).stdout.text.trim()).toBe('0')
  })

  test('may have any size and any bytes', async () => {
    const stdin = Buffer.alloc(20_000_000, '\0\xff\n')
    const outcome = await run(['sha256sum'], { stdin })
    const { createHash } = await import('node:crypto')
    expect(outcome.stdout.text).toContain(createHash('sha256').update(stdin).digest('hex'))
  })

  test.each([
    ['files', undefined],
    ['pipes', passOn],
  ])('may be left unread (%s)', async (_streams, filter) => {
    const outcome = await run(['true'], { stdin: 'x'.repeat(5_000_000), ...(filter && { filter }) })
    expect(outcome).toMatchObject({ status: 'EXITED', exitCode: 0 })
  })

  test('can be opened as /dev/stdin', async () => {
    expect((await run(['cat', '/dev/stdin'], { stdin: 'text' })).stdout.text).toBe('text')
  })
})

describe('Output', () => {
  test('goes to the named files byte for byte, which nobody else may read', async () => {
    const { path } = await workspace()
    const stdoutPath = join(path, 'stdout')
    const stderrPath = join(path, 'stderr')
    const outcome = await run(['sh', '-c', 'printf "\\377\\000x"; printf e >&2'], { stdoutPath, stderrPath })

    expect(outcome.stdout).toMatchObject({ bytes: 3, path: stdoutPath })
    expect(readFileSync(stdoutPath)).toEqual(Buffer.from([0xff, 0, 0x78]))
    expect(readFileSync(stderrPath, 'utf8')).toBe('e')
    expect(statSync(stdoutPath).mode & 0o777).toBe(0o600)
  })

  test.each([
    ['head', '0123', '', '0123\n[6 bytes left out]\n'],
    ['tail', '', '6789', '\n[6 bytes left out]\n6789'],
    ['both', '01', '89', '01\n[6 bytes left out]\n89'],
  ] as const)('beyond keepBytes comes back by its %s', async (keep, head, tail, text) => {
    const { stdout } = await run(['printf', '0123456789'], { keepBytes: 4, keep })
    expect(stdout).toMatchObject({ bytes: 10, omittedBytes: 6, text })
    expect([stdout.head.toString(), stdout.tail.toString()]).toEqual([head, tail])
  })

  test('is never cut within a character', async () => {
    const { stdout } = await run(['printf', 'ääääää'], { keepBytes: 6 })
    expect(stdout.text).toBe('ä\n[6 bytes left out]\nä')
  })

  test('of 200 MB leaves the memory flat', async () => {
    const { path } = await workspace()
    const before = process.memoryUsage.rss()
    const outcome = await run(['head', '-c', '200000000', '/dev/zero'], { stdoutPath: join(path, 'stdout') })
    expect(outcome.stdout.bytes).toBe(200_000_000)
    expect(process.memoryUsage.rss() - before).toBeLessThan(60_000_000)
  })

  test('that does not fit on the disk is the command’s own failure', async () => {
    const outcome = await run(['sh', '-c', 'echo lost'], { stdoutPath: '/dev/full' })
    expect(outcome).toMatchObject({ status: 'EXITED', stdout: { bytes: 0 } })
    expect(outcome.exitCode).not.toBe(0)
    expect(outcome.stderr.bytes).toBeGreaterThan(0)
  })

  test('reopened by the command as /dev/stderr has no hole', async () => {
    const { stderr } = await run(['sh', '-c', 'echo a >&2; echo b > /dev/stderr; echo c >&2'])
    expect(stderr.text).toBe('b\nc\n')
  })
})

describe('A filter', () => {
  test('sees every byte before the disk does', async () => {
    const { path } = await workspace()
    const stdoutPath = join(path, 'stdout')
    const upperCase = () => ({
      push: (chunk: Buffer) => Buffer.from(chunk.toString('latin1').toUpperCase(), 'latin1'),
      end: () => Buffer.from('!'),
    })
    const outcome = await run(['cat'], { stdin: 'x'.repeat(1_000_000), stdoutPath, filter: upperCase })
    expect(outcome.stdout.bytes).toBe(1_000_001)
    expect(readFileSync(stdoutPath, 'utf8')).toBe(`${'X'.repeat(1_000_000)}!`)
  })

  test('does not wait for a grandchild either', async () => {
    const { path } = await workspace()
    const outcome = await run([fixtures.leaveGrandchild, '60', join(path, 'pid')], { filter: passOn })
    expect(outcome).toMatchObject({ status: 'EXITED', exitCode: 0 })
    process.kill(pidIn(await waitForFile(join(path, 'pid'), '\n')), 'SIGKILL')
  })

  test('whose result does not fit on the disk fails, and the command ends', async () => {
    await expect(run(['yes'], { stdoutPath: '/dev/full', filter: passOn })).rejects.toMatchObject({
      code: 'ENOSPC',
    })
  })

  test('that fails ends the command, and the caller is told', async () => {
    const broken = () => ({ push: () => fail('no room'), end: () => Buffer.alloc(0) })
    await expect(run(['yes'], { filter: broken })).rejects.toThrow('no room')
  })
})

describe('Stopping', () => {
  test('a timeout ends the whole group, and is no failure of the command', async () => {
    const { path } = await workspace()
    const pids: number[] = []
    const outcome = await run([fixtures.sleep, '60', join(path, 'pid')], {
      timeoutMs: 1000,
      onSpawn: ({ pid }) => pids.push(pid),
    })
    expect(outcome).toMatchObject({ status: 'TIMEOUT', exitCode: null, signal: 'SIGTERM' })
    expect([...pids, pidIn(await waitForFile(join(path, 'pid'), '\n'))].filter(isAlive)).toEqual([])
  })

  test('a group that ignores TERM is killed after the grace', async () => {
    const { path } = await workspace()
    const controller = new AbortController()
    const started = run([fixtures.ignoreSigterm, '60', join(path, 'pid')], {
      signal: controller.signal,
      graceMs: 100,
    })
    const pid = pidIn(await waitForFile(join(path, 'pid'), '\n'))
    controller.abort()

    expect(await started).toMatchObject({ status: 'ABORTED', exitCode: null, signal: 'SIGKILL' })
    expect(isAlive(pid)).toBe(false)
  })

  test('takes the background with it, also under nohup, but not what has a session of its own', async () => {
    const { path } = await workspace()
    const script = [
      'sleep 300 & echo $! > plain',
      'nohup sleep 300 > /dev/null 2>&1 & echo $! > nohup',
      `setsid sh -c 'echo $$ > own; exec sleep 300' &`,
      'wait',
    ].join('\n')
    const controller = new AbortController()
    const started = run(['sh', '-c', script], { cwd: path, signal: controller.signal })
    const [plain, nohup, own] = await Promise.all(
      ['plain', 'nohup', 'own'].map(async (name) => Number(await waitForFile(join(path, name), '\n'))),
    )
    controller.abort()
    expect((await started).status).toBe('ABORTED')
    expect([plain, nohup, own].map((pid) => isAlive(pid ?? 0))).toEqual([false, false, true])
    process.kill(own ?? 0, 'SIGKILL')
  })

  test('a child that outlives the command it belongs to gets its grace, too', async () => {
    const { path } = await workspace()
    const script = `sh -c 'trap "sleep 0.2; echo saved > saved; exit" TERM; echo $$ > ready; while :; do sleep 0.05; done' & wait`
    const controller = new AbortController()
    const started = run(['sh', '-c', script], { cwd: path, signal: controller.signal, graceMs: 10_000 })
    await waitForFile(join(path, 'ready'), '\n')
    controller.abort()

    expect((await started).status).toBe('ABORTED')
    expect(readFileSync(join(path, 'saved'), 'utf8')).toBe('saved\n')
  })

  test('a signal that is already aborted starts nothing', async () => {
    const { path } = await workspace()
    const outcome = await run(['touch', 'started'], { cwd: path, signal: AbortSignal.abort() })
    expect(outcome.status).toBe('ABORTED')
    expect(existsSync(join(path, 'started'))).toBe(false)
  })

  test('what was printed before the end is there', async () => {
    const outcome = await run(['sh', '-c', 'echo begun; sleep 60'], { timeoutMs: 1000 })
    expect(outcome).toMatchObject({ status: 'TIMEOUT', stdout: { text: 'begun\n' } })
  })

  test('a program that must leave at once kills everything it runs, within the tick', async () => {
    const { path } = await workspace()
    const started = ['a', 'b'].map((name) => run([fixtures.ignoreSigterm, '60', join(path, name)]))
    const pids = await Promise.all(
      ['a', 'b'].map(async (name) => pidIn(await waitForFile(join(path, name), '\n'))),
    )
    killRunningCommands()

    for (const outcome of await Promise.all(started)) {
      expect(outcome).toMatchObject({ status: 'SIGNALED', signal: 'SIGKILL' })
    }
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('an exception of onSpawn leaves nothing running', async () => {
    let started = 0
    const onSpawn = ({ pid }: { pid: number }) => {
      started = pid
      fail('the disk is full')
    }
    await expect(run(['sleep', '60'], { onSpawn })).rejects.toThrow('the disk is full')
    await expect.poll(() => isAlive(started)).toBe(false)
  })
})

describe('A command that cannot start says why', () => {
  test.each<[string, string[], string, string]>([
    [
      'a program that is not installed',
      ['no-such-program'],
      'NOT_FOUND',
      '"no-such-program" is not on the PATH. Install it, or write the path of the program.',
    ],
    [
      'a path where nothing is',
      ['./missing'],
      'NOT_FOUND',
      '"./missing" does not exist. Check the path; a relative one starts at the working directory.',
    ],
    [
      'a script without its interpreter',
      ['./badly-interpreted'],
      'NOT_FOUND',
      '"./badly-interpreted" exists, but the interpreter its first line names does not. Check the #! line.',
    ],
    [
      'a file that is no program',
      ['./plain'],
      'NOT_EXECUTABLE',
      '"./plain" is not an executable file. Check its path, and its permissions (chmod +x).',
    ],
    [
      'an argument that is too long',
      ['echo', 'x'.repeat(200_000)],
      'TOO_LARGE',
      'Argument 1 is 200000 bytes long; the system passes at most 131071 bytes in one argument. Large values belong on standard input: let the tool take this parameter with stdin:.',
    ],
    [
      'an argument with a NUL byte',
      ['echo', 'a\0b'],
      'NUL_BYTE',
      'Argument 1 of the command holds a NUL byte, which no command can be given there. Pass it through stdin.',
    ],
  ])('%s', async (...[, argv, code, message]) => {
    const { path } = await workspace({ 'badly-interpreted': '#!/no/such/interpreter\n', plain: 'text' })
    await chmod(join(path, 'badly-interpreted'), 0o755)
    await chmod(join(path, 'plain'), 0o644)
    const outcome = await run(argv, { cwd: path })
    expect(outcome).toMatchObject({ status: 'NOT_STARTED', exitCode: null, startError: { code, message } })
  })

  test('arguments that are too many together', async () => {
    const outcome = await run(['echo', ...Array.from({ length: 100 }, () => 'x'.repeat(100_000))])
    expect(outcome.startError).toMatchObject({
      code: 'TOO_LARGE',
      message: expect.stringContaining('The arguments are 10000105 bytes together'),
    })
  })

  test('a working directory that is not there', async () => {
    const { path } = await workspace()
    expect((await run(['true'], { cwd: join(path, 'gone') })).startError).toEqual({
      code: 'NO_CWD',
      message: `The working directory ${path}/gone cannot be entered (ENOENT). Create it, or give another cwd.`,
    })
  })

  test('a working directory that is a file', async () => {
    const { path } = await workspace({ file: '' })
    expect((await run(['true'], { cwd: join(path, 'file') })).startError?.code).toBe('NO_CWD')
  })

  test('an output file that cannot be written', async () => {
    const { path } = await workspace()
    const outcome = await run(['true'], { stdoutPath: join(path, 'no/such/directory') })
    expect(outcome.startError?.code).toBe('NO_OUTPUT_FILE')
  })

  test('but an empty argv is a mistake of the program', async () => {
    await expect(run([])).rejects.toMatchObject({ code: 'ERR_EXECUTOR_USAGE' })
  })
})

function passOn() {
  return { push: (chunk: Buffer) => chunk, end: () => Buffer.alloc(0) }
}

function fail(message: string): never {
  throw new Error(message)
}

function pidIn(text: string): number {
  return Number(/\d+/.exec(text)?.[0])
}
