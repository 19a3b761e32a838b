export { type CreateRunOptions, createRun } from './create-run.js'
export { isJournalError, JournalError, type JournalErrorCode } from './errors.js'
export {
  type ActionRequest,
  type ActionResult,
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
  type StoredEvent,
  type SystemMessage,
  type Thought,
  type ToolCallRecord,
  type UnknownEvent,
  type UserMessage,
} from './event.js'
export { journalJsonSchema } from './json-schema.js'
export { latestRunId } from './latest-run.js'
export { listRuns } from './list-runs.js'
export type { RunMetadata } from './metadata.js'
export { neverBegan } from './never-began.js'
export { type Journal, type JournalOptions, openJournal } from './open.js'
export { type OpenRunOptions, openRun } from './open-run.js'
export type { PendingCall } from './pending-calls.js'
export { type JournalContents, parseJournal, readJournal, streamJournal } from './read.js'
export { readRequest } from './read-request.js'
export { readRun } from './read-run.js'
export { recordInvocation } from './record-invocation.js'
export { recordName } from './record-name.js'
export { openRecordedRequests, type RecordedRequests } from './recorded-requests.js'
export { type RepairResult, repairJournal } from './repair.js'
export { repairRun } from './repair-run.js'
export type { RepairedTail } from './repair-tail.js'
export { overwriteFile, replaceFile } from './replace.js'
export type { InvocationRecord, RequestLog } from './request-log.js'
export type { Run } from './run.js'
export { journalPath, type RunPaths, runDirectory } from './run-paths.js'
export type { Owner, RunSummary } from './run-summary.js'
export type { Usage } from './summary.js'
export { type JournalTail, readTail, type TailOptions } from './tail.js'
export { type Finding, type JournalReport, verifyJournal } from './verify.js'
export { asWriteError } from './write-error.js'
