import { endSession } from './end.js'
import { isSessionError } from './errors.js'
import { type ListedSession, listSessions } from './list.js'

const IDLE_MS = 24 * 60 * 60 * 1000

export interface CleanupOptions {
  sessionsDirectory: string
  /** Every session, whoever started it. */
  all?: boolean
  /** The sessions of this run; without it, and without `all`, those nobody used for 24 hours. */
  runId?: string
  now?: Date
  signal?: AbortSignal
}

/** Ends the sessions that nobody needs any more, and returns their ids. */
export async function cleanUpSessions(options: CleanupOptions): Promise<string[]> {
  const { sessionsDirectory, signal } = options
  const unneeded = listSessions(sessionsDirectory).filter((session) => isUnneeded(session, options))
  const ended: string[] = []
  for (const { session_id } of unneeded) {
    try {
      await endSession(session_id, { sessionsDirectory, ...(signal && { signal }) })
      ended.push(session_id)
    } catch (error) {
      // Somebody else ended it between the list and now.
      if (!isSessionError(error) || error.code !== 'ERR_SESSION_UNKNOWN') throw error
    }
  }
  return ended
}

function isUnneeded(
  session: ListedSession,
  { all = false, runId, now = new Date() }: CleanupOptions,
): boolean {
  if (all) return true
  if (runId !== undefined) return session.run_id === runId
  const lastUsed = Date.parse(session.last_executed_at ?? session.created_at)
  return now.getTime() - lastUsed > IDLE_MS
}
