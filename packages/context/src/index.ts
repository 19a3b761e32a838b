export { type BuiltContext, buildContext, type ContextBlock } from './build.js'
export type { BuildOptions } from './build-options.js'
export { type CacheBreak, findCacheBreak } from './cache-break.js'
export { conversationFromEvents } from './conversation.js'
export { ContextError, type ContextErrorCode, isContextError } from './errors.js'
export { followJournal, type JournalFollower } from './follow-journal.js'
export {
  type ComputedFileSource,
  type Condition,
  type ContextCommand,
  type ContextManifest,
  type ContextSource,
  type FileSource,
  type JournalSource,
  type ManifestProblem,
  type ParsedManifest,
  parseManifest,
} from './manifest.js'
export type { CountTokens } from './meter.js'
export { manifestSchema } from './schema.js'
export { type Calibration, estimateTokens } from './tokens.js'
export type { Turn } from './turns.js'
export { type ContextVariables, replaceVariables } from './variables.js'
