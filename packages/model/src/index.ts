export type {
  AssistantMessage,
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
  CompleteOptions,
  FunctionTool,
  SystemMessage,
  ToolCall,
  ToolMessage,
  Usage,
  UserMessage,
} from './chat.js'
export { parseCompletion } from './completion.js'
export { LLM_DEFAULTS } from './defaults.js'
export { isModelError, ModelError, type ModelErrorCode, type ModelErrorDetails } from './errors.js'
export {
  type LlmSettings,
  type ParsedLlm,
  type Provider,
  parseLlm,
} from './llm.js'
export type { SettingsProblem } from './llm-problems.js'
export { LLM_KEYS, llmSchema } from './llm-schema.js'
export type { RecordedParts, Recording, ReplayRecord } from './recording.js'
export { replayModel } from './replay.js'
export { retryDelayMs } from './retry.js'
export { scriptModel } from './script.js'
export { type ParsedScript, parseScript, type ScriptedCall, type ScriptTurn } from './script-file.js'
export { streamingRequest } from './streaming-request.js'
export { withoutHalves } from './well-formed.js'
