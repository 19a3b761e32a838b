export type { Problem } from '@delta/tool-expander'
export type { ByteFilter, CapturedOutput, Keep } from './channels.js'
export {
  CREDENTIAL_NAMES,
  commandEnvironment,
  credentialsOf,
  type EnvironmentOptions,
  isAgentCommand,
  startsDelta,
} from './environment.js'
export { ExecutorError, type ExecutorErrorCode, isExecutorError } from './errors.js'
export type { RunContext } from './execute-tool.js'
export { type ExecuteContext, executeTool, runPrepared } from './execute-tool.js'
export {
  fitShape,
  formatPath,
  nearestNames,
  type ShapeProblem,
  showValue,
  type ValuePath,
  valueAt,
} from './fit-shape.js'
export {
  describeProcess,
  endOrphans,
  findOrphans,
  isRunning,
  type OrphanQuery,
  type ProcessRecord,
  readProcessRecord,
  recordProcess,
} from './orphans.js'
export {
  COST_ESTIMATES,
  type CostEstimate,
  DEFAULT_RULES,
  decide,
  type Effects,
  effectsSchema,
  type ParsedPolicy,
  type Policy,
  type PolicyDecision,
  type PolicyRules,
  parsePolicy,
  policySchema,
  TRUST_LEVELS,
  type TrustLevel,
} from './policy.js'
export {
  type CallContext,
  isTooDeep,
  limitedMatcher,
  needsApproval,
  type PreparedCall,
  prepareCall,
  type RefusedCall,
  type RunnableCall,
  type ToolCall,
} from './prepare-call.js'
export { quoteCommand, quoteForPerson, showControls } from './quote.js'
export {
  createRedactor,
  REDACTED,
  type Redactor,
  redactFile,
  redactPatterns,
  SECRET_PATTERNS,
} from './redact.js'
export type { StartError, StartErrorCode } from './run-command.js'
export {
  type CommandOptions,
  type CommandOutcome,
  killRunningCommands,
  runCommand,
} from './run-command.js'
export {
  DEFAULT_SETTINGS,
  PARAMETER_KEYS,
  type ParsedSettings,
  parseToolSettings,
  type SandboxSettings,
  SYNTAX_KEYS,
  settingsSchema,
  type ToolSettings,
  unknownParameterKeys,
} from './settings.js'
export type { WrittenTool } from './tool.js'
export {
  DEFAULT_TOOL_TIMEOUT_MS,
  defineTool,
  findDisplayProblems,
  interruptPolicy,
  isAgentTool,
  renderDisplay,
  type Tool,
  toolMap,
  toolTimeoutMs,
} from './tool.js'
export type { ToolResult, ToolStatus } from './tool-result.js'
export { interruptedResult, removeInlined, type StreamRecord } from './tool-result.js'
export { findUnreplaced, type Unreplaced } from './unreplaced.js'
