export type { CellOfRun } from '@delta/journal/internal'
export { type CacheBreak, type ComparedRequest, findCacheBreak } from './cache-break.js'
export { type CacheMiss, cacheMisses } from './cache-misses.js'
export { changedFiles } from './changed-files.js'
export {
  type CallCost,
  type Cost,
  type CostKey,
  type CostRows,
  costTable,
  type ModelCost,
  type RunCost,
  type StepCost,
  type ToolCost,
} from './cost-table.js'
export {
  type AlignedSteps,
  type ComparedRun,
  type DiffOptions,
  diffRuns,
  type FurtherDifference,
  type RunDiff,
} from './diff-runs.js'
export type { Cause, Difference } from './difference.js'
export { isTraceError, TraceError } from './errors.js'
export type { ExportOptions } from './export/document.js'
export { EXPORT_FORMATS, type ExportFormat, exportRun } from './export/export-run.js'
export type { FileChange, FileState } from './file-change.js'
export { findRuns, type RunsAt } from './find-runs.js'
export { importRun } from './import-run.js'
export type { PriceOptions } from './prices.js'
export type { SentBlock } from './request-record.js'
export type { CostedBlock, SentRequest } from './sent-request.js'
export type { Share } from './shares.js'
export type { KnownChanges, OmittedPath, StepChanges } from './step-changes.js'
export type { IndexedStep, StepIndex } from './step-index.js'
export type { StepRange } from './step-reader.js'
export type { Said, Step, StepCall } from './steps.js'
export { openTrace, type Trace } from './trace.js'
export type { ChildRun, RunPlaces, TracedRun } from './traced-run.js'
