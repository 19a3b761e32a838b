import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { asWriteError, isJournalError, JournalError, type Run } from '@delta/journal'
import { ASK_HUMAN } from '../human.js'

/** The disk takes no more data. */
const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'])
/** No permission, a limit of this process, or something else is where a file or directory of the run should be. */
const PATH_CODES = new Set(['EACCES', 'EPERM', 'EMFILE', 'EFBIG', 'EEXIST', 'EISDIR', 'ENOTDIR', 'ESPIPE'])

/**
 * Turns a system error from writing the run's own directory into a `JournalError`; returns any other error as it is. Such a
 * run has not failed: it can go on from what is recorded once the directory can be written again.
 */
export function asRecordFailure(error: unknown, run: Run): unknown {
  const { code = '', path, syscall } = Object(error) as NodeJS.ErrnoException
  if (isJournalError(error) || syscall === undefined) return error
  const isOurs = path === undefined ? DISK_CODES.has(code) : path.startsWith(run.directory)
  const isRefused = DISK_CODES.has(code) || PATH_CODES.has(code) || lacksDirectory(error)
  return isOurs && isRefused ? asWriteError(error, path ?? run.directory) : error
}

/** A directory of the run was deleted or moved meanwhile: otherwise only the last part of the path could be missing. */
function lacksDirectory(error: unknown): boolean {
  const { code, path, syscall } = Object(error) as NodeJS.ErrnoException
  return code === 'ENOENT' && syscall === 'open' && path !== undefined && isGone(dirname(path))
}

/** Adds to a write error which results were lost and the command that continues the run; or says that the run is gone. */
export function withWayOn(error: unknown, run: Run): unknown {
  if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_WRITE') return error
  if (isGone(run.directory)) return asGone(error, run)
  if (isGone(run.paths.journal)) return error // there is nothing to go on with
  const started = run.summary().pendingCalls.filter(({ name, requested }) => requested && name !== ASK_HUMAN)
  const lost = started.map(
    ({ name }) => `The result of "${name}" was not recorded: it may have taken effect.`,
  )
  return new JournalError(error.code, [error.message, ...lost].join('\n'), {
    path: error.path,
    wayOut: 'continue',
    cause: error.cause,
  })
}

/** The directory was deleted, perhaps by a command of the agent, or moved: advice on permissions would not help. */
function asGone({ code, path, cause }: JournalError, { directory }: Run): JournalError {
  const message = `${directory}: The run can no longer be recorded: its directory is gone.
It, or its whole workspace, was deleted or moved during the run. If it was moved, put it back and continue the run; a deleted run cannot be continued.`
  return new JournalError(code, message, { path, cause })
}

/** False for a path that merely cannot be reached for want of permission. */
function isGone(path: string): boolean {
  try {
    lstatSync(path)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
