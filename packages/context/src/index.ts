export { type BuildOptions, type BuiltContext, buildContext, type ContextBlock } from './build.js'
export { type CacheBreak, findCacheBreak } from './cache-break.js'
export { type Conversation, conversationFromEvents, followEvents } from './conversation.js'
export { ContextError, type ContextErrorCode, isContextError } from './errors.js'
export {
  type ContextManifest,
  type ContextSource,
  manifestSchema,
  type ParsedManifest,
  parseManifest,
} from './manifest.js'
export { type Calibration, type CountTokens, estimateTokens } from './tokens.js'
export { type ContextVariables, replaceVariables } from './variables.js'
