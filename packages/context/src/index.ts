export type { Problem } from '@delta/executor'
export type { CountTokens } from './budget/meter.js'
export { type Calibration, estimateTokens } from './budget/tokens.js'
export { type BuiltContext, buildContext, type ContextBlock } from './build.js'
export type { BuildOptions } from './build-options.js'
export { type CacheBreak, findCacheBreak } from './cache-break.js'
export { conversationFromEvents } from './conversation/conversation.js'
export { type Conversation, followEvents } from './conversation/follow-events.js'
export type { SizedMessage, Turn } from './conversation/turn.js'
export { ContextError, type ContextErrorCode, isContextError } from './errors.js'
export type {
  ComputedFileSource,
  Condition,
  ContextCommand,
  ContextManifest,
  ContextSource,
  FileSource,
  Header,
  JournalSource,
  TextSource,
} from './manifest/manifest.js'
export { type ParsedManifest, parseManifest } from './manifest/parse-manifest.js'
export { manifestSchema } from './manifest/schema.js'
export { type ContextVariables, replaceVariables } from './manifest/variables.js'
