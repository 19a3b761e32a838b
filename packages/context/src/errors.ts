import type { ContextBlock } from './context-block.js'

/** Why a context cannot be built. */
export type ContextErrorCode =
  | 'ERR_CONTEXT_SOURCE' // a source that must be there cannot be read
  | 'ERR_CONTEXT_GENERATOR' // a generator failed or timed out
  | 'ERR_CONTEXT_BUDGET' // the parts that must stay exceed the budget
  | 'ERR_CONTEXT_COUNTER' // the token counter cannot be used
  | 'ERR_CONTEXT_MANIFEST' // what was parsed is not a recipe
  | 'ERR_CONTEXT_ABORTED'
  | 'ERR_CONTEXT_USAGE' // a variable is not an absolute path

/** Branch on `code`; show `message` to people. */
export class ContextError extends Error {
  override readonly name = 'ContextError'
  readonly code: ContextErrorCode
  /** Id or path of the source at fault; undefined when there is no single one. */
  readonly source: string | undefined
  /** For `ERR_CONTEXT_BUDGET`: what the tools and each source cost, texts cut to their `max_tokens`, the conversation whole. */
  blocks: readonly ContextBlock[] | undefined

  constructor(code: ContextErrorCode, message: string, source?: string) {
    super(message)
    this.code = code
    this.source = source
  }
}

/** True for a `ContextError`, also for one of another installed copy of this package. */
export function isContextError(error: unknown): error is ContextError {
  return error instanceof Error && error.name === 'ContextError' && 'code' in error
}
