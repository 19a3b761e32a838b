/** One code per thing a caller might handle differently; the functions say which of them they throw, and when. */
export type JournalErrorCode =
  | 'ERR_JOURNAL_CORRUPT'
  | 'ERR_JOURNAL_CLOSED'
  | 'ERR_JOURNAL_LOST'
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

/**
 * What can be done about an error, for a program to offer as a command or a button of its own.
 * - `take`: take the run from the process that writes it (`force`).
 * - `continue`: go on with the run.
 * - `repair`: set the damaged lines aside (`repairRun`).
 * - `show`: look at the run.
 * - `list`: look which runs there are.
 * - `start`: start a new run.
 */
export type WayOut = 'take' | 'continue' | 'repair' | 'show' | 'list' | 'start'

/** Branch on `code`; show `message` to people. */
export class JournalError extends Error {
  override readonly name = 'JournalError'
  readonly code: JournalErrorCode
  /** The file or directory at fault. */
  readonly path: string
  /** 1-based line at fault; undefined when no single line is. */
  readonly line: number | undefined
  /** Undefined where `message` says all there is to do. */
  readonly wayOut: WayOut | undefined

  constructor(
    code: JournalErrorCode,
    message: string,
    { path, line, wayOut, cause }: { path: string; line?: number; wayOut?: WayOut; cause?: unknown },
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
    this.line = line
    this.wayOut = wayOut
  }
}

/** True for a `JournalError`, also for one that comes from another installed copy of this package. */
export function isJournalError(error: unknown): error is JournalError {
  return error instanceof Error && error.name === 'JournalError' && 'code' in error
}
