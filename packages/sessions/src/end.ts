import { renameSync, rmSync } from 'node:fs'
import { isSessionError, SessionError, systemCode } from './errors.js'
import { endProcesses, markOf } from './jobs.js'
import {
  type BackgroundJob,
  existingSession,
  holderOf,
  lockSession,
  readMetadata,
  type SessionPaths,
} from './store.js'

/** A session that is gone. */
export interface EndedSession {
  status: 'terminated'
  sessionId: string
  /** Says so when a command that was still running was ended. */
  notices?: string[]
}

/** Which sessions directory, and how long a running command is waited for. */
export interface EndOptions {
  /** Where sessions live. */
  sessionsDirectory: string
  /** How many milliseconds a running command may go on before it is ended. Default 5000. */
  timeoutMs?: number | undefined
  /** Stops the wait for the running command: `ERR_SESSION_ABORTED`, and the session stays. */
  signal?: AbortSignal | undefined
}

const DEFAULT_TIMEOUT_MS = 5000

/**
 * Ends a session, also a damaged one: waits for the command it is running, ends that command after `timeoutMs`, ends
 * what runs in the background, and removes the session's directory.
 *
 * @example
 * await endSession(sessionId, { sessionsDirectory, timeoutMs: 1000 })
 * @throws {SessionError} `ERR_SESSION_ID`, `ERR_SESSION_UNKNOWN`, `ERR_SESSION_ABORTED`; `ERR_SESSION_BUSY`: what uses
 *   the session cannot be ended from here.
 */
export async function endSession(id: string, options: EndOptions): Promise<EndedSession> {
  const paths = existingSession(options.sessionsDirectory, id)
  const mark = markOf(paths)
  const { unlock, notices } = await takeOver(id, mark, paths, options)
  try {
    await endProcesses(mark, backgroundJobs(paths))
    const aside = `${paths.directory}.ended` // no command can begin in a half removed session
    renameSync(paths.directory, aside)
    rmSync(aside, { recursive: true, force: true })
  } finally {
    unlock()
  }
  return { status: 'terminated', sessionId: id, ...(notices.length > 0 && { notices }) }
}

async function takeOver(
  id: string,
  mark: string,
  { lock }: SessionPaths,
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: EndOptions,
): Promise<{ unlock: () => void; notices: string[] }> {
  const atOnce = await lockWithin(timeoutMs, lock, signal)
  if (atOnce) return { unlock: atOnce, notices: [] }
  // Commands that wait behind the one that was ended may get the lock first; each is ended in its turn.
  // One failure to find a process proves nothing: it may fall between two commands.
  for (let failures = 0; failures < 2; ) {
    failures = (await endProcesses(mark)) ? 0 : failures + 1
    const unlock = await lockWithin(KILLED_WITHIN_MS, lock, signal)
    if (unlock)
      return { unlock, notices: [`A command was still running after ${timeoutMs / 1000} s and was ended.`] }
  }
  const message =
    `${id} is still in use by ${holderOf(lock)}, which cannot be ended from here. End that, then the session. ` +
    'If its machine or container is gone, the session is free after half a minute.'
  throw new SessionError('ERR_SESSION_BUSY', message)
}

/** How long the holder of the lock may take to notice that its command is gone. */
const KILLED_WITHIN_MS = 1000

/** Undefined when another process works in the session all that time. */
async function lockWithin(
  timeoutMs: number,
  lock: string,
  signal: AbortSignal | undefined,
): Promise<(() => void) | undefined> {
  const timeout = AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), 2 ** 31 - 1)) // Node makes a longer one a millisecond
  try {
    return await lockSession(lock, signal ? AbortSignal.any([signal, timeout]) : timeout)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ERR_SESSION_DAMAGED') return () => undefined // no process can lock it any more
    if (code === 'ERR_SESSION_ABORTED' && !signal?.aborted) return undefined
    throw error
  }
}

function backgroundJobs(paths: SessionPaths): BackgroundJob[] {
  try {
    return readMetadata(paths).background_jobs
  } catch (error) {
    if (isSessionError(error)) return [] // damaged: processes that carry the session's mark are still found
    throw error
  }
}
