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
export { streamingRequest } from './chat.js'
export {
  isModelError,
  ModelError,
  type ModelErrorCode,
  type ModelErrorDetails,
  type Patience,
  retryDelayMs,
} from './errors.js'
export { type RecordedParts, type Recording, type ReplayRecord, replayModel } from './replay.js'
export { parseCompletion } from './response.js'
export { type ScriptedCall, type ScriptTurn, scriptModel } from './script.js'
