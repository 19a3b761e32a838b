/** A file is not what it was said to be. Branch on `code`; show `message` to people: it goes on from the name of the file. */
export class TraceError extends Error {
  override readonly name = 'TraceError'
  readonly code = 'ERR_TRACE_FORMAT'
}

/** True for a `TraceError` of any installed copy of this package. */
export function isTraceError(error: unknown): error is TraceError {
  return error instanceof Error && 'code' in error && error.code === 'ERR_TRACE_FORMAT'
}
