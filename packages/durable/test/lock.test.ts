import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startProcess } from '@delta/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Lock, type LockOptions, readHolder, takeLock } from '../src/index.js'
import { temporaryDirectory } from './helpers.js'

const lockIn = () => join(temporaryDirectory(), 'lock')

const refuse: LockOptions['onHeld'] = async () => {
  throw new Error('held')
}

async function take(directory: string, options: Partial<LockOptions> = {}): Promise<Lock> {
  const lock = await takeLock(directory, { onHeld: refuse, ...options })
  onTestFinished(lock.release)
  return lock
}

/** Writes a holder of another machine, whose last heartbeat is `ageMs` old. */
function putRemote(directory: string, number: number, ageMs: number, changes: object = {}): string {
  const path = join(directory, String(number))
  const record = {
    pid: 4711,
    process_start: '1',
    boot_id: 'other',
    pid_namespace: 'other',
    host: 'elsewhere',
  }
  writeFileSync(path, JSON.stringify({ ...record, taken: new Date().toISOString(), ...changes }))
  const then = new Date(Date.now() - ageMs)
  utimesSync(path, then, then)
  return path
}

/** A process that is ready to take the lock; `take` resolves to its answer. */
async function child(directory: string) {
  const script = join(import.meta.dirname, 'take-lock.mjs')
  const started = startProcess([process.execPath, script, directory], { interactive: true })
  onTestFinished(() => started.kill('SIGKILL'))
  await started.waitForOutput((text) => text === 'ready\n')
  const take = async () => {
    started.write('take\n')
    await started.waitForOutput((text) => text.split('\n').length === 3)
    return started.stdout.split('\n')[1]
  }
  return { ...started, take }
}

test('a lock has the next number, says who has it, and is free once it is released', async () => {
  const directory = lockIn()
  const lock = await take(directory)
  expect(readHolder(directory)).toMatchObject({ number: 1, state: 'alive', record: { pid: process.pid } })
  lock.release()
  lock.release()
  expect(readHolder(directory)).toMatchObject({ number: 1, state: 'free' })
  const next = await take(directory)
  expect([next.number, next.takenFrom]).toEqual([2, undefined])
  expect(readdirSync(directory).sort()).toEqual(['1', '2'])
})

test('onHeld is called with the live holder until that is gone', async () => {
  const directory = lockIn()
  const first = await take(directory)
  await expect(take(directory)).rejects.toThrow('held')
  let asked = 0
  const waited = await take(directory, {
    onHeld: async () => {
      asked += 1
      if (asked === 3) first.release()
      return false
    },
  })
  expect([asked, waited.number]).toEqual([3, 2])
})

test('a lock can be taken from a live holder, whose lost() reports it', async () => {
  const directory = lockIn()
  const first = await take(directory)
  expect(first.lost()).toBeUndefined()
  const second = await take(directory, { onHeld: async () => true })
  expect(second.takenFrom).toMatchObject({ number: 1, state: 'alive' })
  expect([first.lost(), second.lost()]).toEqual(['taken', undefined])
})

test('a holder whose file was deleted finds out by lost(), and does not release the lock of another', async () => {
  const directory = lockIn()
  const first = await take(directory)
  rmSync(directory, { recursive: true })
  expect(first.lost()).toBe('deleted')
  const second = await take(directory)
  first.release()
  expect(readHolder(directory)).toMatchObject({ number: second.number, state: 'alive' })
})

test('with forgetPast one file remains, however often the lock is taken', async () => {
  const directory = lockIn()
  for (let time = 1; time <= 20; time++) (await take(directory, { forgetPast: true })).release()
  expect(readdirSync(directory)).toEqual(['20'])
})

test('a number that was taken and released by others meanwhile is given back', async () => {
  const directory = lockIn()
  await take(directory)
  const lock = await take(directory, {
    onHeld: async () => {
      putRemote(directory, 3, 60_000) // others have taken 2 and 3 since the look, and cleared 2 away
      return true
    },
  })
  expect(lock.number).toBe(4)
  expect(readdirSync(directory).sort()).toEqual(['1', '3', '4'])
})

test('of ten processes that take one lock exactly one gets it', async () => {
  const directory = lockIn()
  const children = await Promise.all(Array.from({ length: 10 }, () => child(directory)))
  const answers = await Promise.all(children.map((each) => each.take()))
  expect(answers.toSorted()).toEqual([...Array(9).fill('held'), 'number 1'])
})

test('a killed holder is passed over at once, and named', async () => {
  const directory = lockIn()
  const killed = await child(directory)
  expect(await killed.take()).toBe('number 1')
  killed.kill('SIGKILL')
  await killed.result
  const lock = await take(directory)
  expect(lock.takenFrom).toMatchObject({ state: 'dead', record: { pid: killed.pid } })
})

test('a reused pid is not the holder: the start time differs', async () => {
  const directory = lockIn()
  const { record } = await take(directory)
  putRemote(directory, 2, 0, { ...record, pid: process.ppid, process_start: '1' })
  expect(readHolder(directory)?.state).toBe('dead')
})

test('a holder that cannot be seen is judged by its heartbeat, also by one from the future', async () => {
  const directory = lockIn()
  ;(await take(directory)).release()
  const states = [1_000, 31_000, -3_600_000].map((ageMs) => {
    putRemote(directory, 2, ageMs)
    return readHolder(directory)?.state
  })
  expect(states).toEqual(['remote-fresh', 'remote-expired', 'remote-expired'])
})

test('so is a record without content', async () => {
  const directory = lockIn()
  ;(await take(directory)).release()
  for (const [text, ageMs, state] of [
    ['', 1_000, 'remote-fresh'],
    ['{"pid":"1"}', 31_000, 'remote-expired'],
    ['null', 31_000, 'remote-expired'],
    [' '.repeat(5_000), 31_000, 'remote-expired'],
  ] as const) {
    const path = putRemote(directory, 2, ageMs)
    writeFileSync(path, text)
    const then = new Date(Date.now() - ageMs)
    utimesSync(path, then, then)
    expect(readHolder(directory)).toMatchObject({ record: undefined, state })
  }
})

test('a long wait does not take the lock from a holder whose heartbeat goes on', async () => {
  const directory = lockIn()
  ;(await take(directory)).release()
  const path = putRemote(directory, 2, 29_000)
  let looks = 0
  const waiting = take(directory, {
    onHeld: async () => {
      looks += 1
      if (looks === 5) throw new Error('gave up')
      const later = new Date(Date.now() + looks * 5)
      utimesSync(path, later, later)
      await wait(5)
      return false
    },
  })
  await expect(waiting).rejects.toThrow('gave up')
})

test('the heartbeat comes every five seconds while the lock is held', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const directory = lockIn()
  const lock = await take(directory)
  const path = join(directory, '1')
  const longAgo = new Date(0)
  const beats = () => {
    utimesSync(path, longAgo, longAgo)
    vi.advanceTimersByTime(5_000)
    return statSync(path).mtimeMs > 0
  }
  const content = readFileSync(path, 'utf8')
  expect(beats()).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe(content)
  lock.release()
  expect(beats()).toBe(false)
})

test('the largest number is an error that names the file, not an endless loop', async () => {
  const directory = lockIn()
  ;(await take(directory)).release()
  const path = putRemote(directory, 999_999_999_999_999, 60_000)
  await expect(take(directory)).rejects.toMatchObject({ code: 'EOVERFLOW', path })
})

test('a lock directory that is a file, or has no parent, is an error of the system', async () => {
  const base = temporaryDirectory()
  await expect(take(join(base, 'gone', 'lock'))).rejects.toMatchObject({ code: 'ENOENT' })
  writeFileSync(join(base, 'lock'), '')
  await expect(take(join(base, 'lock'))).rejects.toMatchObject({ code: 'ENOTDIR' })
})
