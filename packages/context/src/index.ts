export { type BuiltContext, buildContext, type ContextBlock } from './build.js'
export type { BuildOptions } from './build-options.js'
export { type CacheBreak, findCacheBreak } from './cache-break.js'
export { conversationFromEvents } from './conversation.js'
export { ContextError, type ContextErrorCode, isContextError } from './errors.js'
export { followJournal, type JournalFollower } from './follow-journal.js'
export type { ManifestProblem } from './issues.js'
export type {
  ComputedFileSource,
  Condition,
  ContextCommand,
  ContextManifest,
  ContextSource,
  FileSource,
  JournalSource,
} from './manifest.js'
export type { CountTokens } from './meter.js'
export { type ParsedManifest, parseManifest } from './parse-manifest.js'
export { manifestSchema } from './schema.js'
export type { SizedMessage } from './sized-message.js'
export { type Calibration, estimateTokens } from './tokens.js'
export type { Turn } from './turn.js'
export { type ContextVariables, replaceVariables } from './variables.js'
