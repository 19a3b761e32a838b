import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { isJournalError, JournalError } from '@delta/journal'
import { asWriteError } from '@delta/journal/internal'
import type { Run } from '@delta/journal/runs'
import { ASK_HUMAN } from './ask-human.js'

/**
 * Works on a run that this process owns, and releases it in every case. A write error is rethrown with how to continue.
 */
export async function releasing<T>(run: Run, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw withWayOut(asRecordFailure(error, run), run)
  } finally {
    run.close()
  }
}

/**
 * Turns a system error from writing the run's own directory into a `JournalError`; returns any other error unchanged. Such a
 * run has not failed: it can continue from its records once the directory can be written again.
 */
export function asRecordFailure(error: unknown, run: Run): unknown {
  const { code = '', path, syscall } = Object(error) as NodeJS.ErrnoException
  if (isJournalError(error) || syscall === undefined) return error
  const isOurs = path === undefined ? DISK_CODES.has(code) : path.startsWith(run.directory)
  // a missing file is not a record of the run, unless a directory of the run was deleted or moved meanwhile
  const isMissing = code === 'ENOENT' && path !== undefined && !isGone(dirname(path))
  return isOurs && !isMissing ? asWriteError(error, path ?? run.directory) : error
}

/** The disk is full or read-only. */
const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'])

/** Adds to a write error which results were lost and how to continue the run, or says that the run is gone. */
function withWayOut(error: unknown, run: Run): unknown {
  if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_WRITE') return error
  const { code, message, path, cause } = error
  // a command of the agent may have deleted or moved it: advice on permissions would not help
  if (isGone(run.directory)) return new JournalError(code, `${run.directory}: ${GONE}`, { path, cause })
  if (isGone(run.paths.journal)) return error // without a journal the run cannot be continued
  const started = run.summary().pendingCalls.filter(({ name, requested }) => requested && name !== ASK_HUMAN)
  const lost = started.map(
    ({ name }) => `The result of "${name}" was not recorded: it may have taken effect.`,
  )
  return new JournalError(code, [message, ...lost].join('\n'), { path, wayOut: 'continue', cause })
}

const GONE = `The run can no longer be recorded: its directory is gone.
It, or its whole workspace, was deleted or moved during the run. If it was moved, put it back and continue the run; a deleted run cannot be continued.`

/** True only for a missing path, not for one without permission. */
function isGone(path: string): boolean {
  try {
    lstatSync(path)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
