export { type BuildOptions, type BuiltContext, buildContext } from './build.js'
export type { ContextBlock } from './context-block.js'
export { conversationFromEvents } from './conversation.js'
export { ContextError, type ContextErrorCode, isContextError } from './errors.js'
export {
  type ContextManifest,
  type ContextSource,
  type ParsedManifest,
  parseManifest,
  safeParseManifest,
} from './manifest.js'
export type { RecordedSources } from './sources.js'
export type { Calibration, CountTokens } from './tokens.js'
export type { ContextVariables } from './variables.js'
