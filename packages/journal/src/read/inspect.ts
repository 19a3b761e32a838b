import { isUtf8 } from 'node:buffer'
import { closeSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { openAtOnce } from '@delta/durable'
import { JournalError } from '../errors.js'
import { isEvent } from '../events/check.js'
import type { StoredEvent } from '../events/event.js'
import { isRawLine, type RawLine } from '../events/raw-line.js'
import { asReadError } from '../files/read-error.js'
import { type Block, lineSplitter, type Remainder, splitLines } from './lines.js'
import { modernise } from './modernise.js'
import { isTooLong, lineProblem, parseJson, TOO_LONG } from './parse.js'

/** One line of a journal: what it is, or why it is nothing. */
export interface InspectedLine extends Block {
  line: number
  /** As it was parsed, when it is an object with a `type`. */
  raw?: RawLine
  /** As today's event, when it can be understood as one. */
  event?: StoredEvent
  /** Why there is no event. */
  problem?: string
}

/** Everything there is to say about a journal's bytes. */
export interface Inspection {
  /** Blank lines are left out. The last one may lack its newline, see `unfinished`. */
  lines: InspectedLine[]
  remainder: Remainder
  /** True when the last line is an event that lacks only its newline. */
  unfinished: boolean
  /** True when an older version wrote it; false when only numbers or times are missing. */
  old: boolean
}

/**
 * Looks at every line of a journal of any format, and stops at none.
 *
 * @param options.ioDirectory - Where the bare references of old formats lie, relative to the run directory.
 */
export function inspectJournal(
  path: string,
  { ioDirectory = oldIoDirectory(path) }: { ioDirectory?: string } = {},
): Inspection {
  const splitter = lineSplitter()
  const block = splitter.push(readWhole(path))
  const remainder = splitter.end()
  const lines = block ? splitLines(block.bytes).map(parseLine).filter(isNotBlank) : []
  const unfinished = addRemainder(lines, remainder)
  understand(lines, ioDirectory)
  const old = lines.some(
    ({ raw, event }) => event !== undefined && !isEvent({ seq: 1, timestamp: '', ...raw }),
  )
  return { lines, remainder, unfinished, old }
}

function readWhole(path: string): Buffer {
  try {
    return readAndClose(openAtOnce(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_FS_FILE_TOO_LARGE') throw tooLarge(path, error)
    throw asReadError(error, path)
  }
}

function tooLarge(path: string, cause: unknown): JournalError {
  const message = `${path}: Could not be read as a whole: it is larger than 2 GiB.\nRepair it by hand, put it back from a copy, or delete the run.`
  return new JournalError('ERR_JOURNAL_READ', message, { path, cause })
}

function readAndClose(file: number): Buffer {
  try {
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

function parseLine({ bytes, offset }: Block, index: number): InspectedLine {
  const line = { bytes, offset, line: index + 1 }
  if (isTooLong(bytes.length)) return { ...line, problem: TOO_LONG }
  if (!isUtf8(bytes)) return { ...line, problem: 'it is not UTF-8' }
  const value = parseJson(bytes.toString('utf8'))
  return isRawLine(value) ? { ...line, raw: value } : { ...line, problem: lineProblem(value) }
}

function isNotBlank({ bytes, raw }: InspectedLine): boolean {
  return raw !== undefined || isTooLong(bytes.length) || bytes.toString('utf8').trim() !== ''
}

function addRemainder(lines: InspectedLine[], { bytes, offset, hole }: Remainder): boolean {
  if (hole) return false
  const last = parseLine({ bytes, offset }, lines.at(-1)?.line ?? 0)
  if (isTooLong(bytes.length)) lines.push(last) // who reads in pieces sees no end of it
  if (last.raw === undefined) return false
  lines.push(last)
  return true
}

function understand(lines: InspectedLine[], ioDirectory: string): void {
  const readable = lines.filter((line): line is InspectedLine & { raw: RawLine } => line.raw !== undefined)
  const events = modernise(
    readable.map((line) => line.raw),
    ioDirectory,
  )
  for (const [index, line] of readable.entries()) {
    const event = events[index]
    if (isEvent(event)) line.event = event
    else line.problem = lineProblem(event)
  }
}

/** v1.1 kept its records in `runtime_io/`, beside `execution/`, where its journal lies. */
function oldIoDirectory(path: string): string {
  return basename(dirname(path)) === 'execution' ? 'runtime_io' : 'io'
}
