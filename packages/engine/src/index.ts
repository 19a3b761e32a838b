export {
  type AgentDefinition,
  defineAgent,
  type HooksInput,
  type LlmInput,
  type ManifestInput,
  type PolicyInput,
  type ToolInput,
} from '@delta/config-loader'
export type { RunStatus, RunUsage, Totals } from '@delta/journal/runs'
export type { AgentRun } from './agent-run.js'
export { type ContinueRunOptions, continueRun } from './continue-run.js'
export { type EngineError, type EngineErrorCode, type EngineWayOut, isEngineError } from './errors.js'
export { findRun } from './find-run.js'
export { type Fork, type ForkRunOptions, forkRun } from './fork-run.js'
export type { Allowed, Credentials, EngineOptions, Prices, SettingSources } from './options.js'
export type { Question, RunResult } from './outcome.js'
export { type Replayed, type ReplayRunOptions, replayRun } from './replay-run.js'
export { type NextRequest, type NextRequestOptions, nextRequest } from './request.js'
export { type RunAgentOptions, runAgent } from './run-agent.js'
export type { EngineEvent, Reply } from './run-state.js'
