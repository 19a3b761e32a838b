import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '@delta/durable/internal'
import { type EndedSession, type EndOptions, endSession } from './end.js'
import { systemCode } from './errors.js'
import { type ListedSession, listSessions } from './list.js'

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
