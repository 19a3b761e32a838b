export { handleToolResult, parseToolCall } from './calls.js'
export { type CompileOptions, compileTools, toAnthropic, toGemini, toOpenAI } from './compile.js'
export {
  AtipLoadError,
  type AtipLoadErrorCode,
  AtipParseError,
  AtipUsageError,
  AtipValidationError,
  isAtipError,
} from './errors.js'
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
export {
  createValidator,
  type Policy,
  type PolicyViolation,
  type ValidationResult,
  type Validator,
  type ViolationCode,
} from './policy.js'
export type {
  AnthropicParameter,
  AnthropicTool,
  AnthropicToolMessage,
  GeminiFunctionDeclaration,
  GeminiParameter,
  GeminiToolMessage,
  Message,
  OpenAIParameter,
  OpenAITool,
  OpenAIToolMessage,
  ParameterSchema,
  ParametersSchema,
  Provider,
  ProviderTool,
  ProviderTools,
  ToolCall,
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
