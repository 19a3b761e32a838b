export {
  type CleanupOptions,
  cleanUpSessions,
  type EndedSession,
  type EndOptions,
  endSession,
  type ListedSession,
  listSessions,
} from './end.js'
export { isSessionError, SessionError, type SessionErrorCode } from './errors.js'
export { type ExecOptions, type ExecResult, execInSession } from './exec.js'
export { type StartedSession, type StartOptions, startSession } from './start.js'
