import { namesIn } from '@delta/durable/internal'
import { isSessionError } from './errors.js'
import { existingSession, readMetadata } from './store.js'

/** An existing session. Only the id of a `damaged` one is known, and all that it can do is end. */
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
