export type { RunStatus, Usage } from '@delta/journal'
export { agentHomeIn, findAgentHome } from './agent-home.js'
export { type ContinueRunOptions, continueRun } from './continue-run.js'
export type { Credentials } from './create-model.js'
export type { EngineEvent } from './engine-event.js'
export { EngineError, type EngineErrorCode, isEngineError } from './errors.js'
export { findRun } from './find-run.js'
export { isYesOrNo } from './human/question.js'
export type { Reply } from './human/reply.js'
export {
  type ExistingRun,
  type NextRequest,
  type NextRequestOptions,
  nextRequest,
} from './next-request.js'
export type { EngineOptions, SettingSources } from './options.js'
export type { Question, RunResult } from './outcome.js'
export { readRecordedRun } from './recorded-run.js'
export { type RunAgentOptions, runAgent } from './run-agent.js'
