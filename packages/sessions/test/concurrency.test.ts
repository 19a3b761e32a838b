import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canStart, containers, isAlive, startProcess, waitForExit, waitForFile } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { endSession, execInSession, listSessions } from '../src/index.js'
import { start, startCommandLine } from './helpers.js'

/** `npm run test:real` kills more often, and starts more at once. */
const [KILLS, AT_ONCE] = process.env.DELTA_TESTS === 'real' ? [50, 100] : [10, 25]

describe('commands of one session wait for each other', () => {
  test(`${AT_ONCE} at once in one process: none is lost`, async () => {
    const { exec, print } = await start()
    await exec('export COUNT=0; list=()')
    await Promise.all(
      Array.from({ length: AT_ONCE }, () => exec('export COUNT=$((COUNT + 1)); list+=("$COUNT")')),
    )
    expect(await print('echo $COUNT ${#list[@]}')).toBe(`${AT_ONCE} ${AT_ONCE}\n`)
  })

  test('from several processes, too', async () => {
    const { print, exec, id, sessionsDirectory } = await start()
    await exec('export COUNT=0')
    const args = ['exec', id, 'export COUNT=$((COUNT + 1))', '--sessions-dir', sessionsDirectory]
    const calls = Array.from({ length: 12 }, () => startCommandLine(args).result)
    expect((await Promise.all(calls)).map(({ exitCode }) => exitCode)).toEqual(Array(12).fill(0))
    expect(await print('echo $COUNT')).toBe('12\n')
  })

  test.each([
    ['.nfs0001'], // what NFS makes of a file that is removed while it is open
    ['0099'],
    ['99999999999999999999'],
  ])('a file that is no lock, as %s, keeps nobody waiting', async (name) => {
    const { exec, print, directory } = await start()
    await exec('true')
    writeFileSync(join(directory, 'lock', name), '')
    expect(await print('echo here')).toBe('here\n')
  })

  test('sessions do not wait for other sessions', async () => {
    const one = await start()
    const two = await start()
    await one.exec('mkfifo go')
    const waiting = one.exec('read -r line <go; echo "$line"')
    expect(await two.print(`echo on >${join(one.workDirectory, 'go')}; echo done`)).toBe('done\n')
    expect((await waiting).stdout).toBe('on\n')
  })

  test('end waits for the command that runs, and what waits behind it finds the session gone', async () => {
    const { exec, id, sessionsDirectory, workDirectory } = await start()
    const running = exec('seq 1 3 >witness')
    const ending = endSession(id, { sessionsDirectory })
    const late = ending.then(() => exec('echo late >>witness'))
    expect((await running).exitCode).toBe(0)
    expect(await ending).toEqual({ status: 'terminated', sessionId: id })
    await expect(late).rejects.toMatchObject({ code: 'ERR_SESSION_UNKNOWN' })
    expect(readFileSync(join(workDirectory, 'witness'), 'utf8')).toBe('1\n2\n3\n')
    expect(listSessions(sessionsDirectory)).toEqual([])
  })
})

describe('ending a session whose command does not end', () => {
  /** Runs until somebody ends it, and says in a pipe that it began. */
  const stubborn = "trap '' TERM; echo $$ >started; while :; do sleep 0.01; done"

  test('it is ended when the patience is over, and both sides are told', async () => {
    const { exec, id, sessionsDirectory, workDirectory } = await start()
    await exec('mkfifo started')
    const running = exec(stubborn)
    const pid = Number(await readFile(join(workDirectory, 'started'), 'utf8'))
    const waiting = Array.from({ length: 3 }, () => exec(stubborn).catch((error: unknown) => error))
    const ended = await endSession(id, { sessionsDirectory, timeoutMs: 50 })
    const notice = 'A command was still running after 0.05 s and was ended.'
    expect(ended).toEqual({ status: 'terminated', sessionId: id, notices: [notice] })
    expect(isAlive(pid)).toBe(false)
    expect(await running).toMatchObject({ signal: 'SIGKILL' })
    await Promise.all(waiting)
    expect(listSessions(sessionsDirectory)).toEqual([])
  })

  test('a patience longer than any timer is long all the same', async () => {
    const { exec, id, sessionsDirectory, workDirectory } = await start()
    await exec('mkfifo started go')
    const running = exec('echo >started; cat go')
    await readFile(join(workDirectory, 'started'))
    const ending = endSession(id, { sessionsDirectory, timeoutMs: 2 ** 40 })
    await writeFile(join(workDirectory, 'go'), 'went on')
    expect(await running).toMatchObject({ stdout: 'went on', exitCode: 0 })
    expect(await ending).toEqual({ status: 'terminated', sessionId: id })
  })

  test('cleanup says so, too, and waits for all sessions at once', async () => {
    const one = await start()
    await one.exec('mkfifo started')
    const at = ['--sessions-dir', one.sessionsDirectory]
    const commandLine = startCommandLine(['exec', one.id, stubborn, ...at])
    await readFile(join(one.workDirectory, 'started'), 'utf8')
    const { stdout } = await startCommandLine(['cleanup', '--all', '--timeout', '20ms', ...at]).result
    expect(JSON.parse(stdout)).toEqual({
      status: 'terminated',
      session_ids: [one.id],
      notices: [`${one.id}: A command was still running after 0.02 s and was ended.`],
    })
    expect(JSON.parse((await commandLine.result).stdout)).toMatchObject({ signal: 'SIGKILL' })
  })

  test('one that somebody holds whom nobody can end here is an error that names them', async () => {
    const { id, sessionsDirectory, directory } = await start()
    holdElsewhere(directory)
    const ending = endSession(id, { sessionsDirectory, timeoutMs: 1 })
    await expect(ending).rejects.toMatchObject({
      code: 'ERR_SESSION_BUSY',
      message: expect.stringContaining(`${id} is still in use by process 4711 on elsewhere.example`),
    })
    rmSync(join(directory, 'lock'), { recursive: true })
  })
})

/** Somebody on another machine works in a session. @returns The file whose time is their heartbeat. */
function holdElsewhere(directory: string): string {
  mkdirSync(join(directory, 'lock'))
  const path = join(directory, 'lock', '1')
  const where = { boot_id: 'another', pid_namespace: '', host: 'elsewhere.example' }
  writeFileSync(path, JSON.stringify({ pid: 4711, process_start: 'now', ...where, taken: '' }))
  return path
}

describe('a holder on another machine, or in a container that was started anew', () => {
  test('is passed over when it gave no sign of life for half a minute', async () => {
    const { print, directory } = await start()
    const longAgo = new Date(Date.now() - 60_000)
    utimesSync(holdElsewhere(directory), longAgo, longAgo)
    expect(await print('echo free')).toBe('free\n')
  })

  test('is waited for as long as it gives signs of life', async () => {
    const { exec, directory } = await start()
    holdElsewhere(directory)
    const waiting = exec('echo never', { signal: AbortSignal.timeout(100) })
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_SESSION_ABORTED' })
    rmSync(join(directory, 'lock'), { recursive: true })
  })
})

describe('a killed command line', () => {
  test('its command is ended before the next one runs, and neither sees the other', async () => {
    const { id, sessionsDirectory, exec, workDirectory } = await start()
    await exec('mkfifo started')
    const command = "trap '' TERM; export HALF=1; echo $$ >started; while :; do sleep 0.01; done"
    const commandLine = startCommandLine(['exec', id, command, '--sessions-dir', sessionsDirectory])
    const pid = Number(await readFile(join(workDirectory, 'started'), 'utf8'))
    commandLine.kill('SIGKILL')
    await waitForExit(commandLine.pid)
    expect(isAlive(pid)).toBe(true)
    expect((await exec('echo ${HALF-unset}')).stdout).toBe('unset\n')
    expect(isAlive(pid)).toBe(false)
  })

  test(`${KILLS} kills at any instant: the state is old or new, never half, and the session goes on`, async () => {
    const { id, sessionsDirectory, exec } = await start()
    await exec('export A=0; b=0; mkdir -p d0; cd d0')
    let last = 0
    let delayMs = 100 // moves to where a kill meets the command, however fast the machine is
    for (let round = 1; round <= KILLS; round++) {
      const next = last + 1
      const command = `cd .. && mkdir -p d${next} && cd d${next} && export A=${next} && b=${next}`
      const commandLine = startCommandLine(['exec', id, command, '--sessions-dir', sessionsDirectory])
      const timer = setTimeout(() => commandLine.kill('SIGKILL'), delayMs * (0.8 + 0.4 * Math.random()))
      await commandLine.result
      clearTimeout(timer)
      const { stdout } = await execInSession(id, 'echo $A $b ${PWD##*/}', {
        sessionsDirectory,
        env: { PATH: process.env.PATH },
      })
      const state = stdout.trim()
      expect([`${last} ${last} d${last}`, `${next} ${next} d${next}`]).toContain(state)
      delayMs *= state.startsWith(`${next} `) ? 0.7 : 1.5
      last = Number(state.split(' ')[0])
    }
    expect(last).toBeGreaterThan(0)
    expect(last).toBeLessThan(KILLS)
  })
})

describe('something else in the place of a lock', () => {
  const places: [string, (lock: string) => void][] = [
    ['a link', (lock) => symlinkSync('free', join(lock, '3'))],
    ['a pipe', (lock) => void execFileSync('mkfifo', [join(lock, '3')])],
    ['a directory', (lock) => mkdirSync(join(lock, '3'))],
  ]
  test.each(places)('%s is named, and the session can be ended', async (_, place) => {
    const { exec, id, sessionsDirectory, directory } = await start()
    mkdirSync(join(directory, 'lock'))
    place(join(directory, 'lock'))
    await expect(exec('true')).rejects.toMatchObject({
      code: 'ERR_SESSION_DAMAGED',
      message: expect.stringContaining(`${join(directory, 'lock')}: damaged`),
    })
    expect(await endSession(id, { sessionsDirectory })).toEqual({ status: 'terminated', sessionId: id })
    expect(listSessions(sessionsDirectory)).toEqual([])
  })
})

test('what a killed writer left beside a file is removed by the next command', async () => {
  const { exec, directory } = await start()
  writeFileSync(join(directory, 'metadata.json.0123abcd.tmp'), '{')
  await exec('true')
  expect(readdirSync(directory).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

test.for(Object.entries(containers))(
  'a command waits for the one that %s with the same host name runs',
  async ([, container], context) => {
    context.skip(!canStart(container), 'a user namespace is needed, and refused here')
    const { id, workDirectory, sessionsDirectory, print } = await start()
    const first = 'touch began; sleep 0.3; echo first >> order'
    const elsewhere = startCommandLine(
      ['exec', id, first, '--sessions-dir', sessionsDirectory],
      workDirectory,
      {
        container,
      },
    )
    await waitForFile(join(workDirectory, 'began'))
    await print('echo second >> order')
    expect(await elsewhere.result).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(workDirectory, 'order'), 'utf8')).toBe('first\nsecond\n')
  },
)

test.skipIf(process.platform !== 'linux')(
  'a process is not ended for the number and the time that a job of another container had',
  async () => {
    const { id, directory, sessionsDirectory } = await start()
    const { pid, kill } = startProcess(['sleep', '60'], { detached: true })
    onTestFinished(() => kill('SIGKILL'))
    const ticks = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19]
    const metadata = join(directory, 'metadata.json')
    const text = readFileSync(metadata, 'utf8')
    const background_jobs = ['', '@another-bootpid:[1]'].map((where) => ({
      pid,
      start: `${ticks}${where}`,
      command: 'sleep',
    }))
    writeFileSync(metadata, JSON.stringify({ ...JSON.parse(text), background_jobs }))
    await endSession(id, { sessionsDirectory })
    expect(isAlive(pid)).toBe(true)
  },
)
