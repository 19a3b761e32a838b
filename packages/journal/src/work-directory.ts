import { closeSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { realPath } from '@delta/durable/internal'
import { asReadError, isJournalError } from './errors.js'
import { isObject } from './event.js'
import { isInherited } from './events.js'
import { openToRead, readFirstLine } from './files.js'
import { parseJson } from './lines.js'
import { scanJournal } from './read.js'
import { journalPath } from './run-paths.js'
import { DELTA_DIRECTORY } from './runs-directory.js'

/**
 * The workspace of a run: the one whose `.delta` holds it, which may have been moved since; elsewhere, the one that its first
 * event names, for a fork the first that is not inherited. Undefined if that cannot be read, or names none.
 */
export function workDirectoryOf(runDirectory: string): string | undefined {
  const directory = resolve(runDirectory)
  const above = dirname(directory)
  const runs = basename(above) === 'runs' ? dirname(above) : above // as v1.1 kept them
  if (basename(runs) === DELTA_DIRECTORY) return dirname(runs)
  try {
    const start = readFirstOwn(journalPath(directory))
    return isObject(start) && typeof start.work_dir === 'string' ? start.work_dir : undefined
  } catch (error) {
    if (isJournalError(error)) return undefined // reading the run says why
    throw error
  }
}

/** False for a run of another workspace: several may keep their runs in one directory. */
export function isRunOf(workDirectory: string, runDirectory: string): boolean {
  const own = workDirectoryOf(runDirectory)
  return own === undefined || realPath(own) === realPath(workDirectory)
}

/**
 * The first line of a journal, parsed; of a fork the first that is not inherited. What follows, which may be large, is not read.
 *
 * @returns Undefined if there is no such line, or it is not JSON.
 * @throws {JournalError} `ERR_JOURNAL_READ`; `ERR_JOURNAL_CORRUPT`: of a fork, a line before it is damaged.
 */
export function readFirstOwn(path: string): unknown {
  const first = parseJson(readFirstLine(path))
  return isObject(first) && isInherited(first) ? findOwn(path) : first
}

function findOwn(path: string): unknown {
  const file = openToRead(path)
  if (file === undefined) return undefined
  try {
    for (const events of scanJournal(file, path, {})) {
      const own = events.find((event) => !isInherited(event))
      if (own !== undefined) return own
    }
    return undefined
  } catch (error) {
    throw asReadError(error, path)
  } finally {
    closeSync(file)
  }
}
