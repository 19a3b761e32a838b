export type { RunStatus, Usage } from '@delta/journal/runs'
export { type ContinueRunOptions, continueRun } from './continue-run.js'
export type { EngineEvent } from './engine-event.js'
export { EngineError, type EngineErrorCode, type EngineWayOut, isEngineError } from './errors.js'
export { reasonCodeOf, retryOf } from './failure.js'
export { isDecision } from './human/approve.js'
export { isYesOrNo } from './human/question.js'
export {
  type ExistingRun,
  type NextRequest,
  type NextRequestOptions,
  nextRequest,
} from './next-request.js'
export type { Question, RunResult } from './outcome.js'
export type { Reply } from './reply.js'
export { type RunAgentOptions, runAgent } from './run-agent.js'
export { agentHomeIn, findAgentHome } from './start/agent-home.js'
export { agentChanges } from './start/configuration.js'
export { parentRun } from './start/environment.js'
export { findResumable, isTaskOf, type ResumableQuery } from './start/find-resumable.js'
export { findRun } from './start/find-run.js'
export type { Allowed, Credentials, EngineOptions, SettingSources } from './start/options.js'
export { readRecordedRun } from './start/recorded-run.js'
