export type {
  AtipArgument,
  AtipCommand,
  AtipEffects,
  AtipOption,
  AtipTool,
  AtipTrust,
  CostEstimate,
  Message,
  Provider,
  ToolCall,
  TrustSource,
} from '@delta/atip'
export { handleToolResult, parseToolCall } from '@delta/atip'
export { AtipExecuteError } from './base-error.js'
export type { BatchExecutionResult, BatchOptions } from './batch.js'
export { buildCommandArray } from './command-array.js'
export {
  DEFAULT_MAX_OUTPUT_SIZE,
  DEFAULT_MAX_RESULT_LENGTH,
  DEFAULT_REDACT_PATTERNS,
  DEFAULT_SEPARATOR,
  DEFAULT_TIMEOUT,
  TRUST_LEVEL_ORDER,
} from './constants.js'
export {
  ArgumentValidationError,
  ExecutionError,
  InsufficientTrustError,
  InteractiveNotSupportedError,
  isAtipExecuteError,
  PolicyViolationError,
  RequiresConfirmationError,
  TimeoutError,
  UnknownCommandError,
} from './errors.js'
export { type ExecutionOptions, type ExecutionResult, executeCommand } from './execute-command.js'
export { createExecutor, type Executor, type ExecutorConfig } from './executor.js'
export { type FormattedResult, formatResult, type OutputOptions } from './format-result.js'
export { type CommandMapping, type MapOptions, mapToCommand } from './mapping.js'
export {
  type ConfirmationContext,
  type ConfirmationReason,
  checkPolicy,
  type ExecutionPolicy,
  type PolicyCheckResult,
  type PolicyViolation,
  type PolicyViolationCode,
} from './policy.js'
export {
  type ValidationError,
  type ValidationErrorCode,
  type ValidationResult,
  type ValidationWarning,
  type ValidationWarningCode,
  validateToolCall,
} from './validate-call.js'
