export { type CompileOptions, compileTools, indexLeaves, toAnthropic, toGemini, toOpenAI } from './compile.js'
export { OPENAI_DESCRIPTION_MAX_LENGTH, SAFETY_FLAGS } from './description.js'
export { durationMs } from './duration.js'
export { costRank, mergeEffects, overlayEffects, statesNothing } from './effects.js'
export {
  AtipLoadError,
  type AtipLoadErrorCode,
  AtipParseError,
  AtipUsageError,
  AtipValidationError,
  isAtipError,
} from './errors.js'
export { type AtipImportOptions, importAtip } from './import.js'
export { type AtipLeaf, commandLine, leavesOf } from './leaves.js'
export { type AtipSource, loadAtip } from './load.js'
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
export { isRepeated, isRequired, longFlag, valueType } from './parameters.js'
export { parseToolCall } from './parse-call.js'
export type { Policy, ViolationCode } from './policy.js'
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
export { DEFAULT_REDACT_PATTERNS, redact } from './redact.js'
export {
  createResultFilter,
  DEFAULT_MAX_RESULT_LENGTH,
  type ResultFilter,
  type ResultFilterOptions,
  truncate,
} from './result-filter.js'
export { generateSafetyPrompt, isInteractive } from './safety-prompt.js'
export { handleToolResult } from './tool-result.js'
export { type AtipExpandedTool, atipToTools, type ImportOptions } from './tools.js'
export { lowerTrust, TRUST_LEVEL_ORDER, trustOf } from './trust.js'
export {
  createValidator,
  type PolicyViolation,
  type ValidationResult,
  type Validator,
} from './validator.js'
export { type ReadValue, readValue } from './value.js'
export { versionNotice } from './version.js'
