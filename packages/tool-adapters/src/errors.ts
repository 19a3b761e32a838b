import type { ToolResult } from '@delta/executor'

/** A call that did not succeed, two tools of one name, a message that cannot be answered, or tools that cannot be read. */
export type AdapterErrorCode =
  | 'ERR_ADAPTER_CALL'
  | 'ERR_ADAPTER_DUPLICATE'
  | 'ERR_ADAPTER_MESSAGE'
  | 'ERR_ADAPTER_TOOLS'

/**
 * A mistake of the embedding program; or, as `ERR_ADAPTER_CALL`, a call that failed, was refused or was blocked, in a
 * framework where a tool says so by throwing. The message is then what the model reads.
 */
export class AdapterError extends Error {
  override readonly name = 'AdapterError'

  constructor(
    readonly code: AdapterErrorCode,
    message: string,
    /** What became of the call; only with `ERR_ADAPTER_CALL`. */
    readonly result?: ToolResult,
  ) {
    super(message)
  }

  /** Frameworks show this to the model. */
  override toString(): string {
    return this.message
  }
}

/** True for the errors of this package, also from a second installed copy. */
export function isAdapterError(error: unknown): error is AdapterError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_ADAPTER_')
}
