import { readdirSync } from 'node:fs'
import { isSessionError, systemCode } from './errors.js'
import { existingSession, readMetadata, type SessionMetadata } from './store.js'

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
  const sessions = sessionIds(sessionsDirectory).flatMap((id) => describe(sessionsDirectory, id) ?? [])
  return sessions.sort((a, b) => a.created_at.localeCompare(b.created_at))
}

function sessionIds(sessionsDirectory: string): string[] {
  try {
    return readdirSync(sessionsDirectory).filter((name) => /^sess_[A-Za-z0-9_-]+$/.test(name))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

function describe(sessionsDirectory: string, id: string): ListedSession | undefined {
  try {
    return listed(readMetadata(existingSession(sessionsDirectory, id)))
  } catch (error) {
    if (!isSessionError(error)) throw error
    return error.code === 'ERR_SESSION_UNKNOWN' ? undefined : damagedSession(id) // unknown: it was ended while we looked
  }
}

function listed(metadata: SessionMetadata): ListedSession {
  const { session_id, command, status, created_at, last_executed_at, work_dir, execution_count, run_id } =
    metadata
  return {
    session_id,
    command,
    status,
    created_at,
    last_executed_at,
    work_dir,
    execution_count,
    ...(run_id !== undefined && { run_id }),
  }
}

function damagedSession(id: string): ListedSession {
  return {
    session_id: id,
    command: '',
    status: 'damaged',
    created_at: '',
    last_executed_at: null,
    work_dir: '',
    execution_count: 0,
  }
}
