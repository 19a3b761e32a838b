export { type BlobStore, readBlob } from './blobs.js'
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
  type SnapshotEvent,
  type StoredEvent,
  type SystemMessageEvent,
  type Thought,
  type ToolCallRecord,
  type UnknownEvent,
  type UserMessageEvent,
} from './events.js'
export type { Owner, PendingCall, RunHistory, RunMetadata, RunSummary, RunUsage } from './fold.js'
export { runEventSchema } from './old-formats.js'
export { type OpenRunOptions, openRun } from './open-run.js'
export { listRuns, type RunsOfPlace, readRun } from './read-runs.js'
export type { CommandRecord } from './records.js'
export { type Invocation, type InvocationRecord, type RequestLog, readRequest } from './requests.js'
export type { Run } from './run.js'
export type { RunPaths } from './run-paths.js'
export type { RunsPlace } from './runs-directory.js'
export type { Rates, RunSpending, Spending, TokenSum, Totals } from './totals.js'
export { repairRun } from './verify-run.js'
