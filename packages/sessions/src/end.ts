import { lstatSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '@delta/durable/internal'
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
  const { unlock, notices } = await takeOver(id, paths, options)
  try {
    await endProcesses(markOf(id), backgroundJobs(paths))
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
  { lock }: SessionPaths,
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: EndOptions,
): Promise<{ unlock: () => void; notices: string[] }> {
  const atOnce = await lockWithin(timeoutMs, lock, signal)
  if (atOnce) return { unlock: atOnce, notices: [] }
  // Commands that wait behind the one that was ended may get the lock first; each is ended in its turn.
  // One failure to find a process proves nothing: it may fall between two commands.
  for (let failures = 0; failures < 2; ) {
    failures = (await endProcesses(markOf(id))) ? 0 : failures + 1
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

/** A session of a directory. Of a `damaged` one only the id is known, and it can only be ended. */
export interface ListedSession {
  sessionId: string
  /** What was started: `bash`, `sh`, `python3`, or a path to one of them. */
  command: string
  status: 'active' | 'damaged'
  /** ISO 8601, UTC. */
  createdAt: string
  lastExecutedAt: string | null
  workDir: string
  executionCount: number
  /** The run that started the session, if one did. */
  runId?: string | undefined
}

/** All sessions of a directory, oldest first; `[]` when it does not exist. */
export function listSessions(sessionsDirectory: string): ListedSession[] {
  const ids = namesIn(sessionsDirectory).filter((name) => /^sess_[A-Za-z0-9_-]+$/.test(name))
  const sessions = ids.flatMap((id) => describe(sessionsDirectory, id) ?? [])
  return sessions.sort((a, b) => a.createdAt.localeCompare(b.createdAt))
}

/** Undefined when the session was ended while we looked. */
function describe(sessionsDirectory: string, id: string): ListedSession | undefined {
  try {
    const metadata = readMetadata(existingSession(sessionsDirectory, id))
    return {
      sessionId: id,
      command: metadata.command,
      status: metadata.status,
      createdAt: metadata.created_at,
      lastExecutedAt: metadata.last_executed_at,
      workDir: metadata.work_dir,
      executionCount: metadata.execution_count,
      runId: metadata.run_id,
    }
  } catch (error) {
    if (!isSessionError(error)) throw error
    const unknown = { createdAt: '', lastExecutedAt: null, workDir: '', executionCount: 0 }
    return error.code === 'ERR_SESSION_UNKNOWN'
      ? undefined
      : { sessionId: id, command: '', status: 'damaged', ...unknown }
  }
}

const IDLE_MS = 24 * 60 * 60 * 1000

/** Which sessions are ended. */
export interface CleanupOptions extends EndOptions {
  /** Every session. */
  all?: boolean | undefined
  /** The sessions of this run. Without it, and without `all`, the sessions that were not used for 24 hours. */
  runId?: string | undefined
}

/**
 * Ends the sessions that are not needed any more, all at once, because each may wait for a command.
 *
 * @throws {SessionError} As `endSession`, once all others are ended.
 */
export async function cleanUpSessions(options: CleanupOptions): Promise<EndedSession[]> {
  const unneeded = listSessions(options.sessionsDirectory).filter((session) => isUnneeded(session, options))
  const ended = await Promise.allSettled(unneeded.map(({ sessionId }) => endSession(sessionId, options)))
  removeLeftovers(options.sessionsDirectory)
  for (const result of ended) {
    const isGone = result.status === 'rejected' && systemCode(result.reason) === 'ERR_SESSION_UNKNOWN' // another process ended it
    if (result.status === 'rejected' && !isGone) throw result.reason
  }
  return ended.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}

function isUnneeded(session: ListedSession, { all = false, runId }: CleanupOptions): boolean {
  if (all) return true
  if (runId !== undefined) return session.runId === runId
  const lastUsed = Date.parse(session.lastExecutedAt ?? session.createdAt)
  return Date.now() - lastUsed > IDLE_MS
}

/** Longer than any start of a session takes. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000

/** Removes what a killed `end` was removing, and what a killed `start` had not finished. */
function removeLeftovers(sessionsDirectory: string): void {
  for (const name of namesIn(sessionsDirectory)) {
    const path = join(sessionsDirectory, name)
    const age = Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    const isEnded = /^sess_[A-Za-z0-9_-]+\.ended$/.test(name)
    const isUnfinished = /^new-sess_[A-Za-z0-9_-]+$/.test(name) && age > ABANDONED_AFTER_MS
    if (isEnded || isUnfinished) rmSync(path, { recursive: true, force: true })
  }
}
