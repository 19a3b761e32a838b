import { lstatSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '@delta/durable'
import { isSessionError, SessionError, systemCode } from './errors.js'
import { endProcesses, markOf } from './jobs.js'
import {
  type BackgroundJob,
  existingSession,
  holderOf,
  lockSession,
  readMetadata,
  type SessionMetadata,
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
    await endProcesses(markOf(id), backgroundJobs(paths))
    const aside = `${paths.directory}.ended` // so that nobody can begin a command in a half removed session
    renameSync(paths.directory, aside)
    rmSync(aside, { recursive: true, force: true })
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
  // Commands that wait behind the one that was ended may come first; each is ended in its turn.
  for (let vain = 0; vain < 2; ) {
    vain = (await endProcesses(markOf(id))) ? 0 : vain + 1 // once may be between two commands
    const unlock = await lockWithin(KILLED_WITHIN_MS, lock, signal)
    if (unlock)
      return { unlock, notices: [`A command was still running after ${patienceMs / 1000} s and was ended.`] }
  }
  const message =
    `${id} is still in use by ${holderOf(lock)}, which cannot be ended from here. End that, then the session. ` +
    'Of a machine or container that is gone, the session is free after half a minute.'
  throw new SessionError('ERR_SESSION_BUSY', message)
}

/** How long the holder of the lock may take to notice that its command is gone. */
const KILLED_WITHIN_MS = 1000

/** Undefined when somebody else works in the session all that time. */
async function lockWithin(
  patienceMs: number,
  lock: string,
  signal: AbortSignal | undefined,
): Promise<(() => void) | undefined> {
  const patience = AbortSignal.timeout(Math.min(Math.ceil(patienceMs), 2 ** 31 - 1)) // Node makes a longer one a millisecond
  try {
    return await lockSession(lock, signal ? AbortSignal.any([signal, patience]) : patience)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ERR_SESSION_DAMAGED') return () => undefined // nobody can lock it any more
    if (code === 'ERR_SESSION_ABORTED' && !signal?.aborted) return undefined
    throw error
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

/**
 * What `delta-sessions list` prints for each session, oldest first.
 *
 * Of a `damaged` one only the id is known; it can be ended, and no more.
 */
export type ListedSession = Pick<
  SessionMetadata,
  'session_id' | 'command' | 'created_at' | 'last_executed_at' | 'work_dir' | 'execution_count' | 'run_id'
> & { status: 'active' | 'damaged' }

/** All sessions of a directory; `[]` when it does not exist. */
export function listSessions(sessionsDirectory: string): ListedSession[] {
  const ids = namesIn(sessionsDirectory).filter((name) => /^sess_[A-Za-z0-9_-]+$/.test(name))
  const sessions = ids.flatMap((id) => describe(sessionsDirectory, id) ?? [])
  return sessions.sort((a, b) => a.created_at.localeCompare(b.created_at))
}

function describe(sessionsDirectory: string, id: string): ListedSession | undefined {
  try {
    return listed(readMetadata(existingSession(sessionsDirectory, id)))
  } catch (error) {
    if (!isSessionError(error)) throw error
    return error.code === 'ERR_SESSION_UNKNOWN' ? undefined : { session_id: id, ...DAMAGED } // unknown: it was ended while we looked
  }
}

function listed(metadata: SessionMetadata): ListedSession {
  const { session_id, command, status, created_at, last_executed_at, work_dir, execution_count, run_id } =
    metadata
  return { session_id, command, status, created_at, last_executed_at, work_dir, execution_count, run_id }
}

const DAMAGED = {
  command: '',
  status: 'damaged',
  created_at: '',
  last_executed_at: null,
  work_dir: '',
  execution_count: 0,
} as const

const IDLE_MS = 24 * 60 * 60 * 1000

/** Which sessions are ended. */
export interface CleanupOptions extends EndOptions {
  /** Every session, whoever started it. */
  all?: boolean | undefined
  /** The sessions of this run; without it, and without `all`, those nobody used for 24 hours. */
  runId?: string | undefined
}

/**
 * Ends the sessions that nobody needs any more, and returns their ids.
 *
 * @throws {SessionError} As `endSession`, once all others are ended.
 */
export async function cleanUpSessions(options: CleanupOptions): Promise<string[]> {
  return (await endUnneeded(options)).map(({ session_id }) => session_id)
}

/** All at once: each may wait for a command. What cannot be ended is thrown when all others are. */
export async function endUnneeded(options: CleanupOptions): Promise<EndedSession[]> {
  const unneeded = listSessions(options.sessionsDirectory).filter((session) => isUnneeded(session, options))
  const ended = await Promise.allSettled(unneeded.map(({ session_id }) => endSession(session_id, options)))
  removeLeftovers(options.sessionsDirectory)
  for (const result of ended) {
    const isGone = result.status === 'rejected' && systemCode(result.reason) === 'ERR_SESSION_UNKNOWN' // somebody else ended it
    if (result.status === 'rejected' && !isGone) throw result.reason
  }
  return ended.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}

function isUnneeded(session: ListedSession, { all = false, runId }: CleanupOptions): boolean {
  if (all) return true
  if (runId !== undefined) return session.run_id === runId
  const lastUsed = Date.parse(session.last_executed_at ?? session.created_at)
  return Date.now() - lastUsed > IDLE_MS
}

/** Longer than anybody takes to make a session. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000

/** What a killed `end` was removing, and under the name of its making what a killed `start` had not finished. */
const ENDED = /^sess_[A-Za-z0-9_-]+\.ended$/
const UNFINISHED = /^new-sess_[A-Za-z0-9_-]+$/

/** Removes what processes that were killed have left of sessions which were none yet, or no longer. */
function removeLeftovers(sessionsDirectory: string): void {
  for (const name of namesIn(sessionsDirectory)) {
    const path = join(sessionsDirectory, name)
    const age = Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (ENDED.test(name) || (UNFINISHED.test(name) && age > ABANDONED_AFTER_MS))
      rmSync(path, { recursive: true, force: true })
  }
}
