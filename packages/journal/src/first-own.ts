import { closeSync } from 'node:fs'
import { asReadError } from './errors.js'
import { isObject } from './event.js'
import { isInherited } from './events.js'
import { openToRead, readFirstLine } from './files.js'
import { parseJson } from './lines.js'
import { scanJournal } from './read.js'

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
