/** Metadata is not ATIP. `path` leads to the member at fault, `value` is what it holds. */
export class AtipValidationError extends Error {
  override readonly name = 'AtipValidationError'
  readonly code = 'ERR_ATIP_INVALID'

  constructor(
    message: string,
    readonly path: string[],
    readonly value: unknown,
  ) {
    super(message)
  }
}

/** A value is not a response of the provider, or the arguments in it are not a JSON object. */
export class AtipParseError extends Error {
  override readonly name = 'AtipParseError'
  readonly code = 'ERR_ATIP_RESPONSE'

  constructor(
    message: string,
    readonly provider: string,
    readonly response: unknown,
  ) {
    // Callers of other implementations look for the class name in the message.
    super(`AtipParseError: ${message}`)
  }
}

/** Why there is no metadata: the file, the program, too slow, stopped, more than 1 MB, or not JSON. */
export type AtipLoadErrorCode =
  | 'ERR_ATIP_READ'
  | 'ERR_ATIP_COMMAND'
  | 'ERR_ATIP_TIMEOUT'
  | 'ERR_ATIP_ABORTED'
  | 'ERR_ATIP_TOO_LARGE'
  | 'ERR_ATIP_NOT_JSON'

/** A file or a command did not yield metadata. `source` is the path or the command line. */
export class AtipLoadError extends Error {
  override readonly name = 'AtipLoadError'

  constructor(
    readonly code: AtipLoadErrorCode,
    message: string,
    readonly source: string,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}

/** A policy has an unknown rule or value, or a result cannot be written as JSON. */
export class AtipUsageError extends Error {
  override readonly name = 'AtipUsageError'
  readonly code = 'ERR_ATIP_USAGE'
}

/** True for every error this package throws, also one from a second installed copy. */
export function isAtipError(
  error: unknown,
): error is AtipValidationError | AtipParseError | AtipLoadError | AtipUsageError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('ERR_ATIP_')
}
