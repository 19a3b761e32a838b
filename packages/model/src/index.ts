export type {
  AssistantMessage,
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
  CompleteOptions,
  Content,
  ContentPart,
  FunctionTool,
  ModelDelta,
  SystemMessage,
  ToolCall,
  ToolMessage,
  Usage,
  UserMessage,
} from './chat.js'
export { LLM_DEFAULTS, streamingRequest, textOf } from './chat.js'
export {
  isModelError,
  ModelError,
  type ModelErrorCode,
  type ModelErrorDetails,
  type Patience,
  retryDelayMs,
} from './errors.js'
export {
  LLM_KEYS,
  type LlmSettings,
  llmSchema,
  type ParsedLlm,
  type Provider,
  parseLlm,
  type SettingsProblem,
} from './llm.js'
export { type RecordedParts, type Recording, type ReplayRecord, replayModel } from './replay.js'
export { parseCompletion, withoutHalves } from './response.js'
export { type ParsedScript, parseScript, type ScriptedCall, type ScriptTurn, scriptModel } from './script.js'
