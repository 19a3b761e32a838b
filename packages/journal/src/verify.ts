import type { JournalError } from './errors.js'
import type { AnyEvent, Stored } from './event.js'
import { type InspectedLine, type Inspection, inspectJournal } from './inspect.js'
import { numberCheck } from './lines.js'
import type { ReadOptions } from './read.js'

/**
 * Something to know about a journal.
 * - `damage`: a complete line that is no event. Reading stops there; `repairJournal` sets it aside.
 * - `torn`: an end torn by a crash. Opening the journal mends it.
 * - `beginning`: it lacks events that it must begin with. Nothing can put them back. Only a `check` finds it.
 * - `note`: anything else; the journal works.
 */
export interface Finding {
  kind: 'damage' | 'torn' | 'beginning' | 'note'
  /** 1-based; undefined when it is about no single line. */
  line?: number
  /** A sentence for people, without the line. */
  message: string
}

/** What `verifyJournal` found. */
export interface JournalReport {
  /** As it was given. */
  path: string
  /** True when there is no damage, and no beginning is missing: the journal can be read and continued. */
  ok: boolean
  /** How many lines are events. */
  events: number
  findings: Finding[]
  /** How what is wrong is put right; undefined when nothing is. */
  wayOut?: 'repair' | 'start'
  /** All of it, for people. */
  text: string
}

/**
 * Looks through a whole journal and explains what it finds. Changes nothing; a missing file is an empty journal.
 *
 * @param options.check - Finds what else is to be said of its events.
 * @throws {JournalError} `ERR_JOURNAL_READ`
 */
export function verifyJournal<Event = AnyEvent>(
  path: string,
  options: ReadOptions<Event> & { check?: ((events: Stored<Event>[]) => Finding[]) | undefined } = {},
): JournalReport {
  const { schema, check = () => [] } = options
  const inspection = inspectIfThere(path, schema)
  const found = inspection?.lines.flatMap(({ event }) => event ?? []) ?? []
  const findings = [...(inspection ? findAll(inspection, path) : []), ...check(found)]
  const has = (kind: Finding['kind']) => findings.some((finding) => finding.kind === kind)
  const events = found.length
  const wayOut = has('damage') ? 'repair' : has('beginning') ? 'start' : undefined
  const text = describe(path, events, findings)
  return { path, ok: wayOut === undefined, events, findings, ...(wayOut && { wayOut }), text }
}

function inspectIfThere<Event>(
  path: string,
  schema: ReadOptions<Event>['schema'],
): Inspection<Event> | undefined {
  try {
    return inspectJournal(path, schema)
  } catch (error) {
    const { code } = Object((error as JournalError).cause) as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw error
  }
}

function findAll(inspection: Inspection<unknown>, path: string): Finding[] {
  const { lines, old } = inspection
  return [
    ...lines.flatMap((line) => damageOf(line)),
    ...tornEnd(inspection),
    ...(old ? [note(WRITTEN_EARLIER)] : []),
    ...numberFindings(lines, path),
  ]
}

const WRITTEN_EARLIER = 'An older version wrote this journal; it is read as it is.'

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

function numberFindings(lines: InspectedLine<unknown>[], path: string): Finding[] {
  const numbers = numberCheck(path, 0)
  const notes: Finding[] = []
  let expected = 1
  for (const { event, line, raw } of lines) {
    if (!event) continue
    if (raw?.seq === undefined) notes.push(note('"seq" is missing.', line))
    else if (event.seq !== expected)
      notes.push(note(`"seq" is ${event.seq} where ${expected} was expected.`, line))
    numbers.note(event, line)
    expected = numbers.lastSeq() + 1
  }
  return notes
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
  const verdict = verdicts.length > 0 ? verdicts : ['The journal can be read and continued.']
  return [`${path}: ${events} events.`, ...lines, ...verdict].join('\n')
}

/** A finding as a line of a report. */
export function findingLine({ line, message }: Finding): string {
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
