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
export { isModelError, ModelError, type ModelErrorCode, type ModelErrorDetails } from './errors.js'
export { LLM_DEFAULTS } from './llm/defaults.js'
export {
  type LlmSettings,
  type ParsedLlm,
  type Provider,
  parseLlm,
} from './llm/llm.js'
export type { SettingsProblem } from './llm/llm-problems.js'
export { LLM_KEYS, llmSchema } from './llm/llm-schema.js'
export type { RecordedParts, Recording, ReplayRecord } from './offline/recording.js'
export { replayModel } from './offline/replay.js'
export { scriptModel } from './offline/script.js'
export { type ParsedScript, parseScript, type ScriptedCall, type ScriptTurn } from './offline/script-file.js'
export { parseCompletion } from './server/completion.js'
export { retryDelayMs } from './server/retry.js'
export { streamingRequest } from './server/streaming-request.js'
export { withoutHalves } from './well-formed.js'
