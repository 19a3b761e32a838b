/** One code per case that a caller may handle differently. The functions name the codes they throw. */
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
  | 'ERR_BLOB_NOT_FOUND'
  | 'ERR_BLOB_CORRUPT'

/**
 * What a program can offer about an error, as a command or a button of its own.
 * - `take`: take the run from the process that writes it (`force`).
 * - `continue`: go on with the run.
 * - `repair`: set the damaged lines aside (`repairRun`).
 * - `show`: look at the run.
 * - `list`: list the runs.
 * - `start`: start a new run.
 */
export type WayOut = 'take' | 'continue' | 'repair' | 'show' | 'list' | 'start'

interface JournalErrorDetails {
  path: string
  reason?: string
  line?: number
  wayOut?: WayOut
  cause?: unknown
}

/** Branch on `code`; show `message` to people. */
export class JournalError extends Error {
  override readonly name = 'JournalError'
  readonly code: JournalErrorCode
  /** The file or directory at fault. */
  readonly path: string
  /** What is wrong, without the path, for a caller that names the file or the remedy itself; undefined when nobody does. */
  readonly reason: string | undefined
  /** 1-based line at fault; undefined when no single line is. */
  readonly line: number | undefined
  /** Undefined when `message` says all that can be done. */
  readonly wayOut: WayOut | undefined

  constructor(
    code: JournalErrorCode,
    message: string,
    { path, reason, line, wayOut, cause }: JournalErrorDetails,
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
    this.reason = reason
    this.line = line
    this.wayOut = wayOut
  }
}

/** True for a `JournalError`, also for one that comes from another installed copy of this package. */
export function isJournalError(error: unknown): error is JournalError {
  return error instanceof Error && error.name === 'JournalError' && 'code' in error
}

/**
 * The system's error with the file's name and what to do about it; any other error stays as it is.
 *
 * @param remedies - What to do about this file instead, by the system's code.
 */
export function asReadError(error: unknown, path: string, remedies: Record<string, string> = {}): unknown {
  const { code = '', message, syscall } = Object(error) as NodeJS.ErrnoException
  if (syscall === undefined) return error
  const [what, remedy] = UNREADABLE[code] ?? [`${message}.`, 'Fix the cause, and try again.']
  const text = `${path}: Could not be read: ${what}\n${remedies[code] ?? remedy}`
  return new JournalError('ERR_JOURNAL_READ', text, { path, cause: error })
}

const PERMIT_READING = 'Give yourself permission to read it.'
const PUT_FILE_BACK = 'Put back the file that was there, or remove what is in its place.'

const UNREADABLE: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  EACCES: ['permission denied (EACCES).', PERMIT_READING],
  EPERM: ['permission denied (EPERM).', PERMIT_READING],
  EISDIR: ['it is a directory, not a file (EISDIR).', PUT_FILE_BACK],
  ESPIPE: ['it is a pipe, not a file (ESPIPE).', PUT_FILE_BACK],
  ENODEV: ['it is a device, not a file (ENODEV).', PUT_FILE_BACK],
  ENOTDIR: ['it is below a file (ENOTDIR).', 'Put back the directory that was there.'],
  ELOOP: ['it is a symbolic link that leads to itself (ELOOP).', PUT_FILE_BACK],
  EIO: ['the disk reported an error (EIO).', 'Copy what is there to a healthy disk.'],
}

/** The system's error with the file's name and what to do about it; an error of ours stays as it is. */
export function asWriteError(error: unknown, path: string): JournalError {
  if (isJournalError(error)) return error
  return writeError(error, path, (code, remedy) => {
    if (code === 'ENOENT') return MISSING
    return `${NOT_WHOLE.has(code) ? '' : 'What was recorded before is whole. '}${remedy}, then continue.`
  })
}

/** The error while starting: a run that has not begun cannot be continued. */
export function asStartError(error: unknown): unknown {
  if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_WRITE') return error
  const { cause, path } = error
  return writeError(cause, path, (_, remedy) => `The run was not started. ${remedy}, then start it again.`)
}

/** The error while repairing: a damaged journal must not be called whole. */
export function asRepairError({ cause, path }: JournalError): JournalError {
  return writeError(cause, path, (_, remedy) => `The journal is as it was. ${remedy}, then repair it.`)
}

function writeError(
  cause: unknown,
  path: string,
  advice: (code: string, remedy: string) => string,
): JournalError {
  const { code = '', message = String(cause) } = Object(cause) as Partial<NodeJS.ErrnoException>
  const [what, remedy] = UNWRITABLE[code] ?? [message, 'Fix the cause']
  const reason = `Could not be written: ${what}`
  return new JournalError('ERR_JOURNAL_WRITE', `${path}: ${reason}\n${advice(code, remedy)}`, {
    path,
    reason,
    cause,
  })
}

const MISSING =
  'For a new journal, create it first. If it was deleted or moved, put it back, then continue; what is gone cannot be continued.'

const PERMIT_WRITING = 'Give yourself write permission on the directory and its files'
const PUT_BACK = 'Put back what was there, or move what is in its place away'

/** What the system's codes mean, and what to do. */
const UNWRITABLE: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENOSPC: ['no space is left on the disk (ENOSPC).', 'Free some space'],
  EDQUOT: ['your disk quota is used up (EDQUOT).', 'Free some space'],
  EROFS: ['the file system is read-only (EROFS).', 'Mount it read-write, or use another directory'],
  EACCES: ['permission denied (EACCES).', PERMIT_WRITING],
  EPERM: ['permission denied (EPERM).', PERMIT_WRITING],
  EIO: ['the disk reported an error (EIO).', 'Copy the directory to a healthy disk'],
  EFBIG: ['a file may not become that long (EFBIG).', 'Raise the limit (ulimit -f)'],
  EMFILE: ['this process has too many files open (EMFILE).', 'Raise the limit (ulimit -n)'],
  ENOTSUP: [
    'the file system has no hard links, by which one process alone becomes the owner (ENOTSUP).',
    'Use a file system that has them (FAT and many mounted buckets have none)',
  ],
  ENOENT: ['its directory does not exist (ENOENT).', PUT_BACK],
  EEXIST: ['something else of that name is in the way (EEXIST).', PUT_BACK],
  EISDIR: ['a directory of that name is in the way (EISDIR).', 'Move the directory away'],
  ENOTDIR: ['a file is in the place of its directory (ENOTDIR).', PUT_BACK],
  ENXIO: ['a pipe of that name is in the way (ENXIO).', PUT_BACK],
  ESPIPE: ['a pipe of that name is in the way (ESPIPE).', PUT_BACK],
}

/** After these, the files may have been changed by something else. */
const NOT_WHOLE: ReadonlySet<string> = new Set(['EEXIST', 'ENOTDIR', 'ENXIO', 'ESPIPE', 'EIO'])
