import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { SessionError, systemCode } from './errors.js'
import { isSameProcess, startOf } from './processes.js'

interface Owner {
  pid: number
  start: string
  host: string
}

/**
 * Waits until nobody else works in a session, and keeps it until the returned function is called.
 *
 * `lock/<n>` says who holds it: the highest number counts, and an empty file means released.
 * Taking is linking a finished file to the next number, which exactly one of several takers can do.
 * A holder that died is passed over at once: its process is gone, or has another start time.
 *
 * @throws {SessionError} `ERR_SESSION_ABORTED`: `signal` came first. `ERR_SESSION_UNKNOWN`: the
 *   session was ended meanwhile.
 */
export async function lockSession(directory: string, signal?: AbortSignal): Promise<() => void> {
  mkdirLock(directory)
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 25)) {
    const taken = tryLock(directory)
    if (taken !== undefined) return () => release(taken)
    await pause(pauseMs, signal)
  }
}

function mkdirLock(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw ended(error)
  }
}

/** The path of the lock when it could be taken. */
function tryLock(directory: string): string | undefined {
  const numbers = lockNumbers(directory)
  const highest = Math.max(0, ...numbers)
  if (highest > 0 && isHeld(join(directory, String(highest)))) return undefined

  const own = join(directory, `taking-${process.pid}-${counter++}`)
  const next = join(directory, String(highest + 1))
  try {
    writeFileSync(own, JSON.stringify(whoWeAre()), { mode: 0o600 })
    linkSync(own, next)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined // somebody else took this number
    throw ended(error)
  } finally {
    rmSync(own, { force: true })
  }
  // Lower numbers never count again. The highest is never removed, so no number is given out twice.
  for (const number of numbers) rmSync(join(directory, String(number)), { force: true })
  return next
}

let counter = 0
let ourselves: Owner | undefined

function whoWeAre(): Owner {
  ourselves ??= { pid: process.pid, start: startOf(process.pid) ?? '', host: hostname() }
  return ourselves
}

function lockNumbers(directory: string): number[] {
  try {
    return readdirSync(directory)
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch (error) {
    throw ended(error)
  }
}

function isHeld(path: string): boolean {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return true // a new holder removed it: look again
    throw error
  }
  if (text === '') return false
  const owner: Owner = JSON.parse(text)
  return owner.host !== hostname() || isSameProcess(owner.pid, owner.start)
}

function release(path: string): void {
  try {
    truncateSync(path, 0)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error // the session was ended, its lock with it
  }
}

async function pause(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await wait(pauseMs * (0.5 + Math.random()), undefined, { ...(signal && { signal }) })
  } catch (error) {
    throw new SessionError('ERR_SESSION_ABORTED', 'Stopped while waiting for the session. Nothing was run.', {
      cause: error,
    })
  }
}

function ended(error: unknown): unknown {
  if (systemCode(error) !== 'ENOENT') return error
  return new SessionError('ERR_SESSION_UNKNOWN', 'The session was ended meanwhile. Start a new one.', {
    cause: error,
  })
}
