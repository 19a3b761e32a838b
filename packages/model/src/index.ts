export type {
  Api,
  AssistantMessage,
  BlobReader,
  CacheBreakpoint,
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
  CompleteOptions,
  Content,
  ContentPart,
  FunctionTool,
  LeftOut,
  ModelDelta,
  ProviderItems,
  SystemMessage,
  ToolCall,
  ToolMessage,
  UserMessage,
  WireRequest,
} from './chat.js'
export {
  isModelError,
  ModelError,
  type ModelErrorCode,
  type ModelErrorDetails,
  type Patience,
  retryDelayMs,
} from './errors.js'
export { type RecordedParts, type Recording, type ReplayRecord, replayModel } from './replay.js'
export { parseCompletion, reasoningOf } from './response.js'
export { type ScriptedCall, type ScriptTurn, scriptModel } from './script.js'
export { type Adjustment, normaliseUsage, type Tokens } from './usage.js'
