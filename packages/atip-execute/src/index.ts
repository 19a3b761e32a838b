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
export {
  DEFAULT_MAX_RESULT_LENGTH,
  DEFAULT_REDACT_PATTERNS,
  handleToolResult,
  parseToolCall,
} from '@delta/atip'
export {
  buildCommandArray,
  type CommandMapping,
  DEFAULT_SEPARATOR,
  type MapOptions,
  mapToCommand,
} from './command.js'
export {
  ArgumentValidationError,
  AtipExecuteError,
  type ConfirmationContext,
  type ConfirmationReason,
  ExecutionError,
  InsufficientTrustError,
  InteractiveNotSupportedError,
  isAtipExecuteError,
  type PolicyViolation,
  type PolicyViolationCode,
  PolicyViolationError,
  RequiresConfirmationError,
  TimeoutError,
  UnknownCommandError,
  type ValidationError,
  type ValidationErrorCode,
} from './errors.js'
export {
  DEFAULT_MAX_OUTPUT_SIZE,
  DEFAULT_TIMEOUT,
  type ExecutionOptions,
  type ExecutionResult,
  executeCommand,
} from './execute-command.js'
export {
  type BatchExecutionResult,
  type BatchOptions,
  createExecutor,
  type Executor,
  type ExecutorConfig,
} from './executor.js'
export { type FormattedResult, formatResult, type OutputOptions } from './format-result.js'
export { checkPolicy, type ExecutionPolicy, type PolicyCheckResult, TRUST_LEVEL_ORDER } from './policy.js'
export {
  type ValidationResult,
  type ValidationWarning,
  type ValidationWarningCode,
  validateToolCall,
} from './validate-call.js'
