export { asWriteError } from './errors.js'
export { recordName } from './files.js'
export { type CreateRunOptions, createRun } from './create-run.js'
export {
  type ActionRequest,
  type ActionResult,
  type ContentPart,
  type EngineEnd,
  type EngineStart,
  type ErrorEvent,
  type HookExecutionAudit,
  type HumanInputReceived,
  type HumanInputRequest,
  isKnownEvent,
  type JournalEvent,
  journalJsonSchema,
  type NewEvent,
  type RunStatus,
  runEventSchema,
  type SnapshotEvent,
  type StoredEvent,
  type SystemMessage,
  type Thought,
  type ToolCallRecord,
  type UnknownEvent,
  type UserMessage,
} from './events.js'
export {
  foldRun,
  type Owner,
  type PendingCall,
  type RunFold,
  type RunHistory,
  type RunMetadata,
  type RunSummary,
  type Usage,
} from './fold.js'
export { latestRunId, listRuns, type RunsOfPlace } from './list-runs.js'
export { migratedDirectory } from './migrate.js'
export { type OpenRunOptions, openRun } from './open-run.js'
export {
  checkRunsDirectory,
  isRunOf,
  journalPath,
  obstacleIn,
  type RunPaths,
  type RunsPlace,
  runDirectory,
  workDirectoryOf,
} from './paths.js'
export { openRecordedRequests, type RecordedRequests, readRequest } from './read-requests.js'
export { neverBegan, readRun } from './read-run.js'
export { createRecordFile, overwriteRecord } from './record-file.js'
export {
  type Invocation,
  type InvocationRecord,
  type RequestLog,
  recordInvocation,
} from './request-log.js'
export type { Run } from './run.js'
export { repairRun, verifyRun } from './verify-run.js'
