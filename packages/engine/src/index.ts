export type { RunStatus, Usage } from '@delta/journal'
export { type ContinueRunOptions, continueRun } from './continue-run.js'
export type { EngineEvent } from './engine-event.js'
export { EngineError, type EngineErrorCode, isEngineError } from './errors.js'
export { isYesOrNo } from './human/question.js'
export { needsMending } from './needs-mending.js'
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
export { findRun } from './start/find-run.js'
export type { Credentials, EngineOptions, SettingSources } from './start/options.js'
export { readRecordedRun } from './start/recorded-run.js'
