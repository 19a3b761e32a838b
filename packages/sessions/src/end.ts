import { renameSync, rmSync } from 'node:fs'
import { SessionError, systemCode } from './errors.js'
import { endProcesses, markOf } from './jobs.js'
import { lockSession } from './lock.js'
import { type BackgroundJob, readMetadata } from './metadata.js'
import { existingSession, type SessionPaths } from './paths.js'

/** What `delta-sessions end` prints. */
export interface EndedSession {
  status: 'terminated'
  session_id: string
}

/**
 * Ends a session: waits for the command it is running, ends what it left in the background, and
 * removes its directory, also a damaged one.
 *
 * @throws {SessionError} `ERR_SESSION_ID`, `ERR_SESSION_UNKNOWN`, `ERR_SESSION_ABORTED`.
 */
export async function endSession(
  id: string,
  { sessionsDirectory, signal }: { sessionsDirectory: string; signal?: AbortSignal },
): Promise<EndedSession> {
  const paths = existingSession(sessionsDirectory, id)
  await lockSession(paths.lock, signal) // never released: it goes with the directory
  await endProcesses(markOf(id), backgroundJobs(paths))
  remove(paths, `${paths.directory}.ended`)
  return { status: 'terminated', session_id: id }
}

function backgroundJobs(paths: SessionPaths): BackgroundJob[] {
  try {
    return readMetadata(paths).background_jobs
  } catch (error) {
    if (error instanceof SessionError) return [] // damaged: what carries the session's mark is still found
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
