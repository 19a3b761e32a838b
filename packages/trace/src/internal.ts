// For the other packages of Delta: may change in any release.
export { cellReader, costOf } from '@delta/journal/internal'
export {
  type ContentPart,
  type EngineStart,
  type ErrorEvent,
  isKnownEvent,
  readBlob,
  type StoredEvent,
} from '@delta/journal/runs'
export { reasoningOf } from '@delta/model'
export { textOfBlock } from './cache-break.js'
export { changedValues } from './changed-values.js'
export { childFinder } from './child-finder.js'
export { sumOf } from './cost-table.js'
export { type EndedRun, readEndedRun, stateOfJournal } from './ended-run.js'
export { writerFor } from './export/document.js'
export { withSubAgents } from './export/sub-agents.js'
export { runDirectoriesAt } from './find-runs.js'
export { followRun, mayBegin } from './follow-run.js'
export { type GrowingRun, growingRun } from './growing-run.js'
export { pieceReader } from './pieces.js'
export { recordedParts } from './recorded-parts.js'
export { readRecord } from './request-record.js'
export { type StepReader, stepReader } from './step-reader.js'
export { recordedChildren } from './traced-run.js'
