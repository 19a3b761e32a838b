/** One code per thing a caller might handle differently; the functions say which of them they throw, and when. */
export type JournalErrorCode =
  | 'ERR_JOURNAL_CORRUPT'
  | 'ERR_JOURNAL_CLOSED'
  | 'ERR_JOURNAL_EVENT'
  | 'ERR_JOURNAL_READ'
  | 'ERR_JOURNAL_WRITE'
  | 'ERR_RUN_BUSY'
  | 'ERR_RUN_LOST'
  | 'ERR_RUN_EMPTY'
  | 'ERR_RUN_EXISTS'
  | 'ERR_RUN_NOT_FOUND'
  | 'ERR_RUN_ID'
  | 'ERR_RUNS_DIRECTORY'
  | 'ERR_LAYOUT_NEWER'
  | 'ERR_REQUEST_NOT_FOUND'
  | 'ERR_REQUEST_CORRUPT'

/** Branch on `code`; show `message` to people. */
export class JournalError extends Error {
  override readonly name = 'JournalError'
  readonly code: JournalErrorCode
  /** The file or directory at fault. */
  readonly path: string
  /** 1-based line at fault; undefined when no single line is. */
  readonly line: number | undefined

  constructor(
    code: JournalErrorCode,
    message: string,
    { path, line, cause }: { path: string; line?: number; cause?: unknown },
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
    this.line = line
  }
}

/** True for a `JournalError`, also for one that comes from another installed copy of this package. */
export function isJournalError(error: unknown): error is JournalError {
  return error instanceof Error && error.name === 'JournalError' && 'code' in error
}
