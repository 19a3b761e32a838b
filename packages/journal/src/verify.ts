import { constants, copyFileSync, linkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncPath } from '@delta/durable'
import type { AnyEvent, Stored } from './event.js'
import { replaceFile, syncName, writing } from './files.js'
import { type InspectedLine, type Inspection, inspectJournal } from './inspect.js'
import type { ReadOptions } from './read.js'
import { recordStamp } from './records.js'

/**
 * Something to know about a journal.
 * - `damage`: a complete line that is not an event. Reading stops there; `repairJournal` sets it aside.
 * - `torn`: an end torn by a crash. Opening the journal sets it aside.
 * - `beginning`: events that it must begin with are missing, and nothing can put them back. Only a `check` finds it.
 * - `changed`: lines are not those that were written, though they can be read. Only a `check` finds it.
 * - `note`: anything else; the journal works.
 */
export interface Finding {
  kind: 'damage' | 'torn' | 'beginning' | 'changed' | 'note'
  /** 1-based; undefined when it is about no single line. */
  line?: number
  /** A sentence for people, without the line. */
  message: string
}

/** What `verifyJournal` found. */
export interface JournalReport {
  path: string
  /** True when there is no damage, no beginning is missing and no line has changed. */
  ok: boolean
  /** How many lines are events. */
  events: number
  findings: Finding[]
  /** How the journal is put right; undefined when it is sound. */
  wayOut?: 'repair' | 'start'
  /** All of it, for people. */
  text: string
}

type Check<Event> = (events: Stored<Event>[], lines: InspectedLine<Event>[]) => Finding[]

/**
 * Looks through a whole journal and explains what it finds. Changes nothing; a missing file is an empty journal.
 *
 * @param options.check - Gives further findings about its events, and the lines that they stand on.
 * @throws {JournalError} `ERR_JOURNAL_READ`
 * @example
 * const { ok, text } = verifyJournal('orders.jsonl')
 * if (!ok) console.error(text)
 */
export function verifyJournal<Event = AnyEvent>(
  path: string,
  options: ReadOptions<Event> & { check?: Check<Event> | undefined } = {},
): JournalReport {
  const { schema, check = () => [] } = options
  const inspection = inspectJournal(path, schema)
  const found = inspection.lines.flatMap(({ event }) => event ?? [])
  const findings = [...findAll(inspection), ...check(found, inspection.lines)]
  const has = (kind: Finding['kind']) => findings.some((finding) => finding.kind === kind)
  const events = found.length
  const wayOut = has('damage') ? 'repair' : has('beginning') ? 'start' : undefined
  const text = describe(path, events, findings)
  return {
    path,
    ok: wayOut === undefined && !has('changed'),
    events,
    findings,
    ...(wayOut && { wayOut }),
    text,
  }
}

function findAll(inspection: Inspection<unknown>): Finding[] {
  const { lines, old } = inspection
  return [
    ...lines.flatMap(damageOf),
    ...tornEnd(inspection),
    ...(old ? [note('An older version wrote this journal; it is read as it is.')] : []),
    ...numberFindings(lines),
  ]
}

function damageOf({ line, problem, bytes, offset }: InspectedLine<unknown>): Finding[] {
  if (problem === undefined) return []
  const message = `Damaged: ${problem} (${bytes.length} bytes from byte ${offset} on): ${excerpt(bytes)}`
  return [{ kind: 'damage', line, message }]
}

function tornEnd({ remainder, unfinished, lines }: Inspection<unknown>): Finding[] {
  const isLine = lines.at(-1)?.offset === remainder.offset
  if (remainder.size === 0 || (isLine && !unfinished)) return []
  if (unfinished)
    return [note('The last event lacks its newline; opening the journal completes it.', lines.at(-1)?.line)]
  const what = remainder.hole ? 'a hole of NUL bytes and what follows it' : 'half a line'
  const message = `Torn end: ${what}, ${remainder.size} bytes from byte ${remainder.offset} on. Opening the journal sets them aside.`
  return [{ kind: 'torn', message }]
}

function numberFindings(lines: InspectedLine<unknown>[]): Finding[] {
  let highest = 0
  return lines.flatMap(({ event, line, raw }) => {
    if (!event) return []
    const expected = highest + 1
    highest = Math.max(highest, event.seq)
    if (raw?.seq === undefined) return [note('"seq" is missing.', line)]
    return event.seq === expected ? [] : [note(`"seq" is ${event.seq} where ${expected} was expected.`, line)]
  })
}

export function note(message: string, line?: number): Finding {
  return { kind: 'note', message, ...(line !== undefined && { line }) }
}

function describe(path: string, events: number, findings: Finding[]): string {
  const lines = findings.map(findingLine)
  const damaged = findings.filter(({ kind }) => kind === 'damage').length
  const whatIsDamaged = damaged === 1 ? 'One line is' : `${damaged} lines are`
  const verdicts = [
    ...(damaged > 0 ? [`${whatIsDamaged} damaged. Repair by hand, or set aside.`] : []),
    ...(findings.some(({ kind }) => kind === 'beginning') ? [NO_BEGINNING] : []),
  ]
  const isChanged = findings.some(({ kind }) => kind === 'changed')
  const readable = isChanged ? CHANGED : 'The journal can be read and continued.'
  const verdict = verdicts.length > 0 ? verdicts : [readable]
  return [`${path}: ${events} events.`, ...lines, ...verdict].join('\n')
}

const CHANGED = 'The journal can be read and continued, but not everything is as it was written.'

/** A finding as a line of a report. */
function findingLine({ line, message }: Finding): string {
  return `  ${line === undefined ? '' : `line ${line}: `}${message}`
}

/** What to do about a journal without its beginning. */
export const NO_BEGINNING = 'Put the journal back from a copy, or start a new one.'

const EXCERPT_CHARACTERS = 60

/** The beginning of a line, as JSON text: whatever it holds, no terminal acts on it. */
function excerpt(bytes: Buffer): string {
  const text = bytes.toString('utf8', 0, 4 * EXCERPT_CHARACTERS + 4)
  return JSON.stringify(text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)}…` : text)
}

/** What `repairJournal` did. */
export interface RepairResult {
  /** The journal. */
  path: string
  /** False when there was nothing to repair; the file is as it was. */
  changed: boolean
  /** Where the journal as it was lies now. */
  keptIn?: string
  /** What was set aside. */
  removed: Finding[]
  /** Why the run cannot be continued all the same; only of a run. */
  problem?: string
  /** All of it, for people. */
  text: string
}

/**
 * Takes damaged lines and a torn end out of a journal without a writer; a missing file is an empty journal.
 *
 * Deletes nothing: the journal as it was stays, whole, under another name beside
 * it. The lines that remain keep every byte, and their numbers, so one gap more is
 * reported. A crash at any instant leaves the old journal or the new one in place.
 *
 * @throws {JournalError} `ERR_JOURNAL_READ`, `ERR_JOURNAL_WRITE`
 * @example
 * console.log(repairJournal('orders.jsonl').text)
 */
export function repairJournal(path: string, options: ReadOptions<unknown> = {}): RepairResult {
  const removed = damageIn(path, options)
  if (removed.length === 0) return nothingToRepair(path)
  const keptIn = keepOriginal(path)
  const whole = inspectJournal(path, options.schema).lines.filter((line) => line.event)
  replaceFile(path, Buffer.concat(whole.flatMap(({ bytes }) => [bytes, Buffer.from('\n')])))
  const text = [
    `${path}: ${whole.length} events remain. Set aside:`,
    ...removed.map(findingLine),
    `The journal as it was is kept, whole, in ${keptIn}`,
  ].join('\n')
  return { path, changed: true, keptIn, removed, text }
}

export function damageIn(path: string, options: ReadOptions<unknown>): Finding[] {
  return verifyJournal(path, options).findings.filter(({ kind }) => kind === 'damage' || kind === 'torn')
}

export function nothingToRepair(path: string): RepairResult {
  return { path, changed: false, removed: [], text: `${path}: There is nothing to repair.` }
}

/** A second name for the same bytes; a copy where the file system has no hard links. */
function keepOriginal(path: string): string {
  const keptIn = join(dirname(path), `journal.before-repair-${recordStamp(new Date())}`)
  try {
    linkSync(path, keptIn)
  } catch {
    writing(keptIn, () => copyFileSync(path, keptIn, constants.COPYFILE_EXCL)) // its error says what is wrong with the disk
  }
  syncPath(keptIn)
  syncName(keptIn)
  return keptIn
}
