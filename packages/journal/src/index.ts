export { type Journal, type JournalOptions, openJournal } from './append/open.js'
export { type RepairResult, repairJournal } from './append/repair.js'
export type { RepairedTail } from './append/repair-tail.js'
export { type Finding, type JournalReport, verifyJournal } from './append/verify.js'
export { isJournalError, JournalError, type JournalErrorCode, type WayOut } from './errors.js'
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
  type NewEvent,
  type NewEventOf,
  type RunStatus,
  type SnapshotEvent,
  type StoredEvent,
  type SystemMessage,
  type Thought,
  type ToolCallRecord,
  type UnknownEvent,
  type UserMessage,
} from './events/event.js'
export { journalJsonSchema } from './events/json-schema.js'
export type { PendingCall } from './events/pending-calls.js'
export { createRecordFile, type RecordFile } from './files/record-file.js'
export { recordName } from './files/record-name.js'
export { asWriteError } from './files/write-error.js'
export { type JournalContents, parseJournal, readJournal, streamJournal } from './read/read.js'
export { type JournalTail, readTail, type TailOptions } from './read/tail.js'
export type { InvocationRecord, RequestLog } from './requests/request-log.js'
export { journalPath, type RunPaths, type RunsPlace, runDirectory } from './run-paths.js'
export { type CreateRunOptions, createRun } from './runs/create-run.js'
export { latestRunId } from './runs/latest-run.js'
export { listRuns, type RunsOfPlace } from './runs/list-runs.js'
export type { RunMetadata } from './runs/metadata.js'
export { migratedDirectory } from './runs/migrate.js'
export { neverBegan } from './runs/never-began.js'
export { obstacleIn } from './runs/obstacle.js'
export { type OpenRunOptions, openRun } from './runs/open-run.js'
export { readRequest } from './runs/read-request.js'
export { readRun } from './runs/read-run.js'
export { recordInvocation } from './runs/record-invocation.js'
export { openRecordedRequests, type RecordedRequests } from './runs/recorded-requests.js'
export { repairRun } from './runs/repair-run.js'
export type { Run } from './runs/run.js'
export type { Owner, RunSummary } from './runs/run-summary.js'
export { checkRunsDirectory, isRunOf, workDirectoryOf } from './runs/runs-directory.js'
export type { Usage } from './runs/summary.js'
