export { asWriteError } from './errors.js'
export { recordName } from './files.js'
export { type CreateRunOptions, createRun } from './runs/create-run.js'
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
} from './runs/events.js'
export {
  foldRun,
  type Owner,
  type PendingCall,
  type RunFold,
  type RunHistory,
  type RunMetadata,
  type RunSummary,
  type Usage,
} from './runs/fold.js'
export { latestRunId, listRuns, type RunsOfPlace } from './runs/list-runs.js'
export { migratedDirectory } from './runs/migrate.js'
export { type OpenRunOptions, openRun } from './runs/open-run.js'
export {
  checkRunsDirectory,
  isRunOf,
  journalPath,
  obstacleIn,
  type RunPaths,
  type RunsPlace,
  runDirectory,
  workDirectoryOf,
} from './runs/paths.js'
export { openRecordedRequests, type RecordedRequests, readRequest } from './runs/read-requests.js'
export { neverBegan, readRun } from './runs/read-run.js'
export { createRecordFile, overwriteRecord } from './runs/record-file.js'
export {
  type Invocation,
  type InvocationRecord,
  type RequestLog,
  recordInvocation,
} from './runs/request-log.js'
export type { Run } from './runs/run.js'
export { repairRun, verifyRun } from './runs/verify-run.js'
