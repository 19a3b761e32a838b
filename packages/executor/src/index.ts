export { isAgentCommand, startsDelta } from './agent-command.js'
export type { CapturedOutput, Keep } from './captured.js'
export { decide, type PolicyDecision } from './decide.js'
export {
  DEFAULT_TOOL_TIMEOUT_MS,
  defineTool,
  interruptPolicy,
  isDelta,
  type Tool,
  toolMap,
  toolTimeoutMs,
} from './define-tool.js'
export { isTooDeep } from './depth.js'
export {
  COST_ESTIMATES,
  type CostEstimate,
  type Effects,
  effectsSchema,
  TRUST_LEVELS,
  type TrustLevel,
} from './effects.js'
export {
  CREDENTIAL_NAMES,
  commandEnvironment,
  credentialsOf,
  type EnvironmentOptions,
} from './environment.js'
export { ExecutorError, type ExecutorErrorCode, isExecutorError, type SettingsProblem } from './errors.js'
export { type ExecuteContext, executeTool } from './execute-tool.js'
export { interruptedResult } from './interrupted.js'
export { PARAMETER_KEYS, TOOL_KEYS } from './mistyped-keys.js'
export { nearestNames } from './nearest.js'
export { formatObservation, type ObservationOptions, type ShownStream } from './observation.js'
export { endOrphans, findOrphans, type OrphanQuery } from './orphans.js'
export {
  DEFAULT_RULES,
  type ParsedPolicy,
  POLICY_KEYS,
  type Policy,
  type PolicyRules,
  parsePolicy,
} from './policy.js'
export {
  type CallContext,
  type PreparedCall,
  prepareCall,
  type RefusedCall,
  type RunnableCall,
  type ToolCall,
} from './prepare-call.js'
export { killRunningCommands } from './process-group.js'
export { isRunning, type ProcessRecord, readProcessRecord, recordProcess } from './process-record.js'
export type { ByteFilter } from './pump.js'
export { quoteCommand, quoteForPerson } from './quote.js'
export { redactFile } from './redact-file.js'
export { createRedactor, type Redactor } from './redactor.js'
export { type CommandOptions, type CommandOutcome, runCommand } from './run-command.js'
export { type RunContext, runPrepared } from './run-prepared.js'
export { REDACTED, redactPatterns } from './secret-patterns.js'
export {
  DEFAULT_SETTINGS,
  type ParsedSettings,
  parseToolSettings,
  type SandboxSettings,
  TOOL_SETTING_KEYS,
  type ToolSettings,
} from './settings.js'
export { showControls } from './show-controls.js'
export type { StartError, StartErrorCode } from './start-error.js'
export { outputPaths, removeInlined, type StreamRecord } from './stream-record.js'
export type { ToolResult, ToolStatus } from './tool-result.js'
export { findUnreplaced, type Unreplaced } from './unreplaced.js'
export type { WrittenTool } from './written-tool.js'
