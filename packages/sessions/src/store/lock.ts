import { mkdirSync, readdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { damaged, SessionError, systemCode } from '../errors.js'
import { isSameProcess, numberingOfProcesses, startOf } from '../processes.js'
import { removeFile } from './files.js'
import { giveSigns, isSilent } from './sign-of-life.js'

/** What a lock says when nobody holds it. */
const FREE = 'free'

/**
 * Waits until nobody else works in a session, and keeps it until the returned function is called.
 *
 * `lock/<n>` is a link whose target says who holds it; the highest number counts, and is never
 * removed. Both taking and releasing make the next number, which of several processes exactly one
 * can. A holder that died is passed over at once: its process is gone, or has another start time. One that cannot be seen
 * from here is passed over when it has been silent for half a minute.
 *
 * @throws {SessionError} `ERR_SESSION_ABORTED`: `signal` came first. `ERR_SESSION_UNKNOWN`: the
 *   session was ended meanwhile. `ERR_SESSION_DAMAGED`: a file is in the place of the directory.
 */
export async function lockSession(directory: string, signal?: AbortSignal): Promise<() => void> {
  makeDirectory(directory)
  const ours = signal && AbortSignal.any([signal]) // many may wait at one signal; node takes the eleventh listener for a leak
  if (signal?.aborted) throw aborted(signal.reason) // also where nobody has to be waited for
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 25)) {
    const number = tryLock(directory)
    if (number !== undefined) return held(directory, number)
    await pause(pauseMs, ours)
  }
}

function held(directory: string, number: number): () => void {
  const stop = giveSigns(directory)
  return () => {
    stop()
    release(directory, number)
  }
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw ended(error, directory)
  }
}

/** The number of the lock when it could be taken. */
function tryLock(directory: string): number | undefined {
  const highest = highestNumber(directory)
  if (highest > 0 && isHeld(directory, String(highest))) return undefined
  const number = highest + 1
  if (!makeLink(directory, number, ourselves())) return undefined
  // Another process may have taken and released the lock since we looked, and cleared our number away.
  if (highestNumber(directory) !== number) {
    unlinkSync(join(directory, String(number)))
    return undefined
  }
  removeFile(join(directory, String(highest)))
  return number
}

function release(directory: string, number: number): void {
  try {
    makeLink(directory, number + 1, FREE)
    unlinkSync(join(directory, String(number)))
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error // the session was ended, its lock with it
  }
}

/** False when the number is taken already. */
function makeLink(directory: string, number: number, target: string): boolean {
  try {
    symlinkSync(target, join(directory, String(number)))
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw ended(error, directory)
  }
}

function highestNumber(directory: string): number {
  try {
    const names = readdirSync(directory).filter((name) => /^[1-9]\d{0,14}$/.test(name)) // a network's file system leaves others
    return Math.max(0, ...names.map(Number))
  } catch (error) {
    throw ended(error, directory)
  }
}

let identity: string | undefined

/** Who we are, as a link's target: process, its start, machine. */
function ourselves(): string {
  identity ??= [process.pid, startOf(process.pid), hostname()].join(' ')
  return identity
}

function isHeld(directory: string, name: string): boolean {
  const path = join(directory, name)
  try {
    const target = readlinkSync(path)
    if (target === FREE) return false
    const [pid, start = ''] = target.split(' ')
    const numbering = numberingOfProcesses()
    const isSeen = numbering !== undefined && start.endsWith(`@${numbering}`)
    return isSeen ? isSameProcess(Number(pid), start) : !isSilent(directory, path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return true // a higher number stands in its place: look again
    if (systemCode(error) === 'EINVAL') return false // no link, so nobody made it to hold the lock
    throw error
  }
}

/** Who holds the lock, for people. */
export function holderOf(directory: string): string {
  try {
    const [pid, , host] = readlinkSync(join(directory, String(highestNumber(directory)))).split(' ')
    return host === undefined ? 'nobody' : `process ${pid} on ${host}`
  } catch {
    return 'another process' // it is letting go just now
  }
}

async function pause(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await wait(pauseMs * (0.5 + Math.random()), undefined, { ...(signal && { signal }) })
  } catch (error) {
    throw aborted(error)
  }
}

function aborted(cause: unknown): SessionError {
  const message = 'Stopped while waiting for the session. Nothing was run.'
  return new SessionError('ERR_SESSION_ABORTED', message, { cause })
}

function ended(error: unknown, directory: string): unknown {
  if (systemCode(error) === 'ENOTDIR') return damaged(directory, error)
  if (systemCode(error) !== 'ENOENT') return error
  return new SessionError('ERR_SESSION_UNKNOWN', 'The session was ended meanwhile. Start a new one.', {
    cause: error,
  })
}
