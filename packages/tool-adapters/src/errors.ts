/** Two tools of one name, a message that cannot be answered, or an option that cannot be used. */
export type AdapterErrorCode = 'ERR_ADAPTER_DUPLICATE' | 'ERR_ADAPTER_MESSAGE' | 'ERR_ADAPTER_OPTIONS'

/** A mistake of the embedding program. What a model sends is never one: that gets an answer. */
export class AdapterError extends Error {
  override readonly name = 'AdapterError'

  constructor(
    readonly code: AdapterErrorCode,
    message: string,
  ) {
    super(message)
  }
}

/** True for the errors of this package, also from a second installed copy. */
export function isAdapterError(error: unknown): error is AdapterError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_ADAPTER_')
}
