export type { CostEstimate, Effects, PolicyRules, Problem, TrustLevel } from '@delta/tool-expander'
export type { ByteFilter, CapturedOutput, Keep } from './channels.js'
export { commandEnvironment, type EnvironmentOptions, type RunVariables } from './environment.js'
export { ExecutorError, type ExecutorErrorCode, isExecutorError } from './errors.js'
export { type ExecuteContext, executeTool, type RunContext } from './execute-tool.js'
export type { ToolPart } from './output-parts.js'
export { type ParsedPolicy, type Policy, parsePolicy, safeParsePolicy } from './policy.js'
export { needsApproval, type RunnableCall, type ToolCall } from './prepare-call.js'
export { quoteCommand } from './quote.js'
export { createRedactor, type Redactor } from './redact.js'
export {
  type CommandOptions,
  type CommandOutcome,
  killRunningCommands,
  runCommand,
  type StartError,
  type StartErrorCode,
} from './run-command.js'
export type { OutputKind, SandboxSettings, ToolSettings } from './tool.js'
export { defineTool, type Tool, type WrittenTool } from './tool.js'
export type { StreamRecord, ToolResult, ToolStatus } from './tool-result.js'
