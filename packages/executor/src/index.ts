export type { CostEstimate, Effects, PolicyRules, Problem, TrustLevel } from '@delta/tool-expander'
export type { ByteFilter, CapturedOutput, Keep } from './channels.js'
export { commandEnvironment, type EnvironmentOptions, type RunVariables } from './environment.js'
export { ExecutorError, type ExecutorErrorCode, isExecutorError } from './errors.js'
export { type ExecuteContext, executeTool, type RunContext, runPrepared } from './execute-tool.js'
export { endOrphans, type OrphanQuery, recordProcess } from './orphans.js'
export type { ToolPart } from './output-parts.js'
export type { PatternBudget } from './pattern-budget.js'
export { type ParsedPolicy, type Policy, parsePolicy, safeParsePolicy } from './policy.js'
export {
  type CallContext,
  mayNeedApproval,
  needsApproval,
  type PreparedCall,
  prepareCall,
  type RefusedCall,
  type RunnableCall,
  type ToolCall,
} from './prepare-call.js'
export { quoteCommand, quoteForPerson } from './quote.js'
export { createRedactor, type Redactor } from './redact.js'
export {
  type CommandOptions,
  type CommandOutcome,
  killRunningCommands,
  runCommand,
  type StartError,
  type StartErrorCode,
} from './run-command.js'
export type { Sandbox, SandboxSettings } from './sandbox.js'
export { defineTool, type ParsedTool, safeDefineTool, type Tool, type WrittenTool } from './tool.js'
export {
  interruptedResult,
  removeInlined,
  type StreamRecord,
  type ToolResult,
  type ToolStatus,
} from './tool-result.js'
export type { OutputKind, ToolSettings } from './tool-settings.js'
