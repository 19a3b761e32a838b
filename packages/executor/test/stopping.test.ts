import { getEventListeners } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixtures, isAlive, tryLimits, waitForFile } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { killRunningCommands } from '../src/index.js'
import { pidIn, run, workspace } from './workspace.js'

function fail(message: string): never {
  throw new Error(message)
}

describe('Stopping', () => {
  test('a timeout ends the whole group, and is no failure of the command', async () => {
    const { path } = await workspace()
    const written = join(path, 'pid')
    let started = 0
    const onSpawn = ({ pid }: { pid: number }) => {
      started = pid
    }
    const [outcome] = await tryLimits(
      (timeoutMs) => run([fixtures.sleep, '60', written], { timeoutMs, onSpawn }),
      () => existsSync(written) && readFileSync(written, 'utf8').includes('\n'),
    )
    expect(outcome).toMatchObject({ status: 'TIMEOUT', exitCode: null, signal: 'SIGTERM' })
    const own = pidIn(readFileSync(written, 'utf8'))
    expect(started).toBe(own)
    expect(isAlive(own)).toBe(false)
  })

  test('a command that prints without end is ended before it fills the disk, and what it printed is kept', async () => {
    const outcome = await run(['sh', '-c', 'while :; do echo y; done'], { maxOutputBytes: 10 })
    expect(outcome).toMatchObject({ status: 'TOO_MUCH_OUTPUT', exitCode: null, signal: 'SIGTERM' })
    expect(outcome.stdout.bytes).toBeGreaterThan(10)
    expect(outcome.stdout.text).toMatch(/^y\ny\n/)
  })

  test('a command that prints on when it is told to end is killed, however much time others have for their end', async () => {
    const stubborn = ['sh', '-c', 'trap "" TERM; while :; do echo y; done']
    const outcome = await run(stubborn, { maxOutputBytes: 10, graceMs: 600_000 })
    expect(outcome).toMatchObject({ status: 'TOO_MUCH_OUTPUT', signal: 'SIGKILL' })
  })

  test('stderr counts as output, and a filter does not hide it', async () => {
    const filter = () => ({ push: (chunk: Buffer) => chunk, end: () => Buffer.alloc(0) })
    const { status } = await run(['sh', '-c', 'while :; do echo y >&2; done'], { maxOutputBytes: 10, filter })
    expect(status).toBe('TOO_MUCH_OUTPUT')
  })

  test('of a command that has ended does not happen: its pid may be another one by then', async () => {
    const { signal } = new AbortController()
    await run(['true'], { signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
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

  test('a signal that ends the command and stops us at the same time is a stop, whichever of the two is heard first', async () => {
    let controller = new AbortController()
    const stop = () => controller.abort()
    process.on('SIGUSR2', stop)
    const both = `kill -USR2 ${process.pid}; kill -TERM $$`
    const statuses = new Set<string>()
    for (let time = 0; time < 100; time++) {
      controller = new AbortController()
      statuses.add((await run(['sh', '-c', both], { signal: controller.signal })).status)
    }
    process.off('SIGUSR2', stop)
    expect([...statuses]).toEqual(['ABORTED'])
  })

  test('what was printed before the end is there', async () => {
    const { path } = await workspace()
    const [outcome] = await tryLimits(
      (timeoutMs) => run(['sh', '-c', 'echo begun; : > it; sleep 60'], { cwd: path, timeoutMs }),
      () => existsSync(join(path, 'it')),
    )
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

const GRACE_MS = 50_000

test.skipIf(process.platform !== 'linux')('a dead process that nobody buries is not waited for', async () => {
  const { path } = await workspace()
  const controller = new AbortController()
  // A child of the command leaves the group with setsid; what it leaves there it will never wait for.
  const leaves = 'sleep 60 & echo $! > member; echo $$ > leaver; exec setsid sleep 60'
  const started = run(['sh', '-c', `sh -c '${leaves}' & wait`], {
    cwd: path,
    signal: controller.signal,
    graceMs: GRACE_MS,
  })
  const member = pidIn(await waitForFile(join(path, 'member'), '\n'))
  const leaver = pidIn(await waitForFile(join(path, 'leaver'), '\n'))
  onTestFinished(() => void process.kill(leaver, 'SIGKILL'))
  while (groupOf(leaver) === groupOf(member)) await new Promise(setImmediate)
  controller.abort()

  const { status, durationMs } = await started
  expect(status).toBe('ABORTED')
  expect(durationMs).toBeLessThan(GRACE_MS)
  expect([isAlive(leaver), isAlive(member)]).toEqual([true, false])
  expect(readFileSync(`/proc/${member}/stat`, 'utf8')).toContain(') Z ')
})

function groupOf(pid: number): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2]
}
