export { handleToolResult, parseToolCall } from './calls.js'
export type { AtipLoadError, AtipLoadErrorCode, AtipUsageError } from './errors.js'
export { AtipParseError, AtipValidationError, isAtipError } from './errors.js'
export { type AtipLeaf, leavesOf } from './leaves.js'
export { type AtipImportOptions, type AtipSource, importAtip, type LoadOptions, loadAtip } from './load.js'
export type {
  AtipArgument,
  AtipCommand,
  AtipEffects,
  AtipOption,
  AtipParamType,
  AtipTool,
  AtipTrust,
  AtipVersion,
  CostEstimate,
  TrustSource,
} from './metadata.js'
export type { ParameterSchema, ParametersSchema } from './parameters.js'
export {
  createValidator,
  type Policy,
  type PolicyViolation,
  type ValidationResult,
  type Validator,
  type ViolationCode,
} from './policy.js'
export {
  type AnthropicParameter,
  type AnthropicTool,
  type AnthropicToolMessage,
  type CompileOptions,
  compileTools,
  type GeminiFunctionDeclaration,
  type GeminiParameter,
  type GeminiToolMessage,
  type Message,
  type OpenAIParameter,
  type OpenAITool,
  type OpenAIToolMessage,
  type Provider,
  type ProviderTool,
  type ProviderTools,
  type ToolCall,
  toAnthropic,
  toGemini,
  toOpenAI,
} from './providers.js'
export {
  createResultFilter,
  DEFAULT_MAX_RESULT_LENGTH,
  DEFAULT_REDACT_PATTERNS,
  type ResultFilter,
  type ResultFilterOptions,
} from './result.js'
export { generateSafetyPrompt, OPENAI_DESCRIPTION_MAX_LENGTH, SAFETY_FLAGS } from './safety.js'
export { versionNotice } from './schema.js'
export { type AtipExpandedTool, atipToTools, type ImportOptions } from './tools.js'
