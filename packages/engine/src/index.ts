export { openRecordedRequests as readRecordedRun } from '@delta/journal/internal'
export type { RunStatus, RunUsage } from '@delta/journal/runs'
export { isDecision } from './approve.js'
export { isYesOrNo } from './ask-human.js'
export { type ContinueRunOptions, continueRun } from './continue-run.js'
export { EngineError, type EngineErrorCode, type EngineWayOut, isEngineError } from './errors.js'
export { findAgentHome, findResumable, findRun, isTaskOf, type ResumableQuery } from './find-run.js'
export {
  type Allowed,
  type Credentials,
  type EngineOptions,
  parentRun,
  type SettingSources,
} from './options.js'
export { type Question, type RunResult, retryOf } from './outcome.js'
export { type NextRequest, type NextRequestOptions, nextRequest } from './request.js'
export { agentChanges, type RunAgentOptions, runAgent } from './run-agent.js'
export type { EngineEvent, Reply } from './run-state.js'
