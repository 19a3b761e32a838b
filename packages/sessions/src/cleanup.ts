import { type EndedSession, type EndOptions, endSession } from './end.js'
import { isSessionError } from './errors.js'
import { removeLeftovers } from './leftovers.js'
import { type ListedSession, listSessions } from './list.js'

const IDLE_MS = 24 * 60 * 60 * 1000

/** Which sessions are ended. */
export interface CleanupOptions extends EndOptions {
  /** Every session, whoever started it. */
  all?: boolean | undefined
  /** The sessions of this run; without it, and without `all`, those nobody used for 24 hours. */
  runId?: string | undefined
  /** From which the 24 hours are counted back. Default: the present. */
  now?: Date | undefined
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
  removeLeftovers(options.sessionsDirectory, options.now ?? new Date())
  for (const result of ended) if (result.status === 'rejected' && !isGone(result.reason)) throw result.reason
  return ended.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}

/** Somebody else ended it between the list and now. */
function isGone(error: unknown): boolean {
  return isSessionError(error) && error.code === 'ERR_SESSION_UNKNOWN'
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
