import { isUtf8 } from 'node:buffer'
import { readIfThere } from '@delta/durable'
import { asReadError, JournalError } from './errors.js'
import {
  type AnyEvent,
  type EventSchema,
  isObject,
  isRawLine,
  problemOf,
  type RawLine,
  type Stored,
} from './event.js'
import {
  type Block,
  corrupt,
  isTooLong,
  lineSplitter,
  numberCheck,
  parseJson,
  type Remainder,
  type Scan,
  splitLines,
  TOO_LONG,
} from './lines.js'

/** One line of a journal: its event, or why it is not one. */
export interface InspectedLine<Event = AnyEvent> extends Block {
  line: number
  /** As it was parsed, when it is an object with a `type`. */
  raw?: RawLine
  /** As today's event, when it can be understood as one. */
  event?: Stored<Event>
  /** Why there is no event. */
  problem?: string
}

/** All lines of a journal and its end. */
export interface Inspection<Event = AnyEvent> {
  /** Blank lines are left out. The last one may lack its newline, see `unfinished`. */
  lines: InspectedLine<Event>[]
  remainder: Remainder
  /** True when the last line is an event that lacks only its newline. */
  unfinished: boolean
  /** True when lines of an earlier format are among them; false when only numbers or times are missing. */
  old: boolean
}

/** Looks at every line of a journal, of any format that its schema can read, and never stops early. Takes all of it into memory. */
export function inspectJournal<Event = AnyEvent>(
  path: string,
  schema: EventSchema<Event> | undefined,
): Inspection<Event> {
  const splitter = lineSplitter()
  const block = splitter.push(readWhole(path))
  const remainder = splitter.end()
  const all: InspectedLine<Event>[] = block ? splitLines(block.bytes).map(parseLine) : []
  const last = lastLine<Event>(remainder, all.length)
  const lines = [...all.filter(isNotBlank), ...(last ? [last] : [])]
  understand(lines, path, schema)
  const old = lines.some(
    ({ raw, event }) => event && problemOf({ ...UNNUMBERED, ...raw }, schema) !== undefined,
  )
  return { lines, remainder, unfinished: last?.event !== undefined, old }
}

const UNNUMBERED = { seq: 1, timestamp: '' }

/** Nothing of a missing file. */
function readWhole(path: string): Buffer {
  try {
    return readIfThere(path) ?? Buffer.alloc(0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_FS_FILE_TOO_LARGE') throw asReadError(error, path)
    const message = `${path}: Could not be read as a whole: it is larger than 2 GiB.\nRepair it by hand, put it back from a copy, or delete it.`
    throw new JournalError('ERR_JOURNAL_READ', message, { path, cause: error })
  }
}

function parseLine({ bytes, offset }: Block, index: number): InspectedLine<never> {
  const line = { bytes, offset, line: index + 1 }
  if (isTooLong(bytes.length)) return { ...line, problem: TOO_LONG }
  if (!isUtf8(bytes)) return { ...line, problem: 'it is not UTF-8' }
  const value = parseJson(bytes.toString('utf8'))
  return isRawLine(value)
    ? { ...line, raw: value }
    : { ...line, problem: problemOf(value, undefined) as string }
}

function isNotBlank({ bytes, raw }: InspectedLine<unknown>): boolean {
  return raw !== undefined || isTooLong(bytes.length) || bytes.toString('utf8').trim() !== ''
}

/** What follows the last newline, unless a crash has torn it. */
function lastLine<Event>(
  { bytes, offset, hole }: Remainder,
  index: number,
): InspectedLine<Event> | undefined {
  const line = parseLine({ bytes, offset }, index)
  return !hole && (line.raw !== undefined || isTooLong(bytes.length)) ? line : undefined
}

function understand<Event>(
  lines: InspectedLine<Event>[],
  path: string,
  schema: EventSchema<Event> | undefined,
): void {
  const readable = lines.filter(
    (line): line is InspectedLine<Event> & { raw: RawLine } => line.raw !== undefined,
  )
  const raws = readable.map(({ raw }) => raw)
  const events = numbered(schema?.upcast?.(raws, path) ?? raws, raws)
  for (const [index, line] of readable.entries()) {
    const event = events[index]
    const problem =
      event === undefined ? 'the schema’s upcast gives nothing for it' : problemOf(event, schema)
    if (problem === undefined) line.event = event as Stored<Event>
    else line.problem = problem
  }
}

/**
 * A line without a number, added by hand or of an earlier format, gets the next one, and the time of the one before. One of
 * today with a number lacks nothing else by right: completing it would hide damage.
 */
function numbered(values: unknown[], raws: RawLine[]): unknown[] {
  let seq = 0
  let timestamp = new Date(0).toISOString()
  return values.map((value, index) => {
    const raw = raws[index]
    const mayLack = isObject(value) && (value !== raw || raw.seq === undefined)
    const event = mayLack ? { seq: seq + 1, timestamp, ...value } : value
    const known = Object(event) as { seq?: unknown; timestamp?: unknown }
    if (typeof known.seq === 'number') seq = Math.max(seq, known.seq)
    if (typeof known.timestamp === 'string') timestamp = known.timestamp
    return event
  })
}

/** A journal that is not wholly in today's format, understood as one that is. */
export interface OldJournal<Event> extends Scan {
  events: Stored<Event>[]
  /** The line each event stands on. */
  lines: number[]
  old: boolean
}

/**
 * Reads a journal whole, whatever format its lines have.
 *
 * For a journal with a line that is not an event of today: the line is of an older
 * format or edited by hand, or this names it as damaged.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`.
 */
export function readOldJournal<Event>(
  path: string,
  schema: EventSchema<Event> | undefined,
): OldJournal<Event> {
  const { lines, ...rest } = inspectJournal(path, schema)
  const numbers = numberCheck(path, 0)
  const events = lines.map(({ event, line, problem }) => {
    if (!event) throw corrupt(path, line, problem ?? 'it is not an event')
    return numbers.note(event, line)
  })
  const unnumbered = lines.find(({ raw }) => raw?.seq === undefined)
  const missing = `${path}:${unnumbered?.line}: "seq" is missing; the line is counted as if it had the next number.`
  return {
    ...rest,
    events,
    lines: lines.map(({ line }) => line),
    warnings: [...(unnumbered ? [missing] : []), ...numbers.warnings],
    lastSeq: numbers.lastSeq(),
  }
}
