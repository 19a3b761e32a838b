import { renameSync, rmSync } from 'node:fs'
import { isSessionError, SessionError, systemCode } from './errors.js'
import { endProcesses } from './jobs.js'
import {
  type BackgroundJob,
  existingSession,
  holderOf,
  lockSession,
  readMetadata,
  type SessionPaths,
} from './store.js'

/** What `delta-sessions end` prints. */
export interface EndedSession {
  status: 'terminated'
  session_id: string
  /** What somebody should know who waits for the session's last command. */
  notices?: string[]
}

/** Which sessions directory, and for how long a running command is waited for. */
export interface EndOptions {
  /** Where sessions live. */
  sessionsDirectory: string
  /** How many milliseconds the command that runs may go on before it is ended. Default 5000. */
  patienceMs?: number | undefined
  /** Gives up waiting for the command that runs: `ERR_SESSION_ABORTED`, and the session stays. */
  signal?: AbortSignal | undefined
}

const DEFAULT_PATIENCE_MS = 5000
/** Commands that wait behind the one that was ended may come first; each is ended in its turn. */
const MOST_ROUNDS = 10

/**
 * Ends a session: waits a little for the command it is running, ends it and what it left in the background,
 * and removes its directory, also a damaged one.
 *
 * @throws {SessionError} `ERR_SESSION_ID`, `ERR_SESSION_UNKNOWN`, `ERR_SESSION_ABORTED`; `ERR_SESSION_BUSY`: what uses
 *   the session cannot be ended from here.
 */
export async function endSession(id: string, options: EndOptions): Promise<EndedSession> {
  const paths = existingSession(options.sessionsDirectory, id)
  const { unlock, notices } = await takeOver(id, paths, options)
  try {
    await endProcesses(isOf(id), backgroundJobs(paths))
    remove(paths, `${paths.directory}.ended`)
  } finally {
    unlock()
  }
  return { status: 'terminated', session_id: id, ...(notices.length > 0 && { notices }) }
}

async function takeOver(
  id: string,
  { lock }: SessionPaths,
  { patienceMs = DEFAULT_PATIENCE_MS, signal }: EndOptions,
): Promise<{ unlock: () => void; notices: string[] }> {
  const atOnce = await lockWithin(patienceMs, lock, signal)
  if (atOnce) return { unlock: atOnce, notices: [] }
  let vain = 0
  for (let round = 1; round <= MOST_ROUNDS && vain < 2; round++) {
    vain = (await endProcesses(isOf(id))) ? 0 : vain + 1 // once may be between two commands
    const unlock = await lockWithin(KILLED_WITHIN_MS, lock, signal)
    if (unlock)
      return { unlock, notices: [`A command was still running after ${patienceMs / 1000} s and was ended.`] }
  }
  const message =
    `${id} is still in use by ${holderOf(lock)}, which cannot be ended from here. End that, then the session. ` +
    'Of a machine or container that is gone, the session is free after half a minute.'
  throw new SessionError('ERR_SESSION_BUSY', message)
}

/** Whether a mark is one of this session's commands. */
function isOf(id: string): (mark: string) => boolean {
  return (mark) => mark.startsWith(`${id}:`)
}

/** How long the holder of the lock may take to notice that its command is gone. */
const KILLED_WITHIN_MS = 1000

/** Node turns a longer timer into one of a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Undefined when somebody else works in the session all that time. */
async function lockWithin(
  patienceMs: number,
  lock: string,
  signal: AbortSignal | undefined,
): Promise<(() => void) | undefined> {
  const patience = AbortSignal.timeout(Math.min(Math.ceil(patienceMs), LONGEST_TIMER_MS))
  try {
    return await lockSession(lock, signal ? AbortSignal.any([signal, patience]) : patience)
  } catch (error) {
    if (isSessionError(error) && error.code === 'ERR_SESSION_DAMAGED') return () => undefined // nobody can lock it any more
    const isOver = isSessionError(error) && error.code === 'ERR_SESSION_ABORTED' && !signal?.aborted
    if (!isOver) throw error
    return undefined
  }
}

function backgroundJobs(paths: SessionPaths): BackgroundJob[] {
  try {
    return readMetadata(paths).background_jobs
  } catch (error) {
    if (isSessionError(error)) return [] // damaged: what carries the session's mark is still found
    throw error
  }
}

/** Renamed first, so that nobody can begin a command in a half removed session. */
function remove({ directory }: SessionPaths, aside: string): void {
  try {
    renameSync(directory, aside)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
  rmSync(aside, { recursive: true, force: true })
}
