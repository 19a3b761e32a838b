import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readHolder, takeLock } from '@delta/durable'
import { damaged, SessionError, systemCode } from '../errors.js'

/**
 * Waits until nobody else works in a session, and keeps it until the returned function is called. A holder that died is passed
 * over at once; one that cannot be seen from here, when it has been silent for half a minute.
 *
 * @throws {SessionError} `ERR_SESSION_ABORTED`: `signal` came first. `ERR_SESSION_UNKNOWN`: the
 *   session was ended meanwhile. `ERR_SESSION_DAMAGED`: something else is in the place of the directory, or
 *   of a file in it.
 */
export async function lockSession(directory: string, signal?: AbortSignal): Promise<() => void> {
  const ours = signal && AbortSignal.any([signal]) // many may wait at one signal; node takes the eleventh listener for a leak
  if (signal?.aborted) throw aborted(signal.reason) // also where nobody has to be waited for
  let pauseMs = 1
  const onHeld = async () => {
    pauseMs = Math.min(pauseMs * 2, 25)
    await pause(pauseMs, ours)
    return false
  }
  try {
    const { release } = await takeLock(directory, { onHeld, forgetPast: true, sync: false })
    return release
  } catch (error) {
    throw ended(error, directory)
  }
}

/** Who holds the lock, for people. */
export function holderOf(directory: string): string {
  const { record } = readHolder(directory) ?? {}
  return record ? `process ${record.pid} on ${record.host}` : 'another process'
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

/** Of something in the place of the directory, or of a file in it: a pipe, a directory, a link of an earlier version. */
const ODD = new Set(['ENOTDIR', 'EISDIR', 'ESPIPE', 'ENODEV', 'ELOOP', 'EOVERFLOW'])

function ended(error: unknown, directory: string): unknown {
  const code = systemCode(error) ?? ''
  if (code === 'ENOENT' ? existsSync(dirname(directory)) : ODD.has(code)) return damaged(directory, error)
  if (code !== 'ENOENT') return error
  return new SessionError('ERR_SESSION_UNKNOWN', 'The session was ended meanwhile. Start a new one.', {
    cause: error,
  })
}
