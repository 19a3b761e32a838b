import { closeSync, constants, copyFileSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readIfThere } from '@delta/durable'
import { isInside, namesIn, realPath } from '@delta/durable/internal'
import { type ContentPart, isInherited, isKnownEvent, isToday, type StoredEvent } from './events.js'
import { hashingFile, openToRead, readText, replaceFile, writing } from './files.js'
import { type InspectedLine, inspectJournal } from './inspect.js'
import { corrupt, parseJson } from './lines.js'
import { withFirstMessage } from './migrate.js'
import { runEventSchema } from './old-formats.js'
import { notFound } from './read-runs.js'
import { journalPath, runPaths } from './run-paths.js'

/** The beginning of a run, as its fork inherits it. */
export interface Inherited {
  /** The run's directory. */
  directory: string
  events: readonly StoredEvent[]
  /** Number of the last of them in the run's journal; 0 without one. */
  seq: number
  /** Their lines as they were, each with `inherited: true`, as one text. */
  lines: string
  /** SHA-256 of the run's journal up to and with the last of these lines, in hexadecimal. */
  sha256: string
}

/**
 * Reads the beginning of a run, which another process may be writing. Only reads.
 *
 * @param count - How many of the run's events are its beginning.
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`; what `count` throws.
 */
export function readBeginning(
  runDirectory: string,
  count: (events: readonly StoredEvent[]) => number,
): Inherited {
  const path = journalPath(runDirectory)
  const { lines, unfinished } = inspectJournal(path, runEventSchema)
  const whole = unfinished ? lines.slice(0, -1) : lines
  const all = whole.map(({ event, line, problem }) => {
    if (event === undefined) throw corrupt(path, line, problem ?? 'it is not an event')
    return event
  })
  const told = withFirstMessage(all, runDirectory)
  const added = told.length - all.length
  const events = told.slice(0, count(told))
  const last = whole[events.length - added - 1]
  return {
    directory: runDirectory,
    events,
    seq: last?.event?.seq ?? 0,
    lines: (added > 0 ? events.map(newLine) : whole.slice(0, events.length).map(inheritedLine)).join(''),
    sha256: sha256UpTo(path, last),
  }
}

/** Where an old journal has only its task, that became the first message, and the numbers move. */
function newLine(event: StoredEvent, index: number): string {
  return `${JSON.stringify({ ...event, seq: index + 1, inherited: true })}\n`
}

/** A line of an older format becomes one of today. */
function inheritedLine({ bytes, raw, event }: InspectedLine<StoredEvent>): string {
  if (raw === undefined || !isToday(raw)) return `${JSON.stringify({ ...event, inherited: true })}\n`
  const text = bytes.toString('utf8').trim()
  return isInherited(raw) ? `${text}\n` : `${text.slice(0, -1)},"inherited":true}\n`
}

/** The SHA-256, in hexadecimal, of a journal up to and with a line; of nothing without one. */
function sha256UpTo(path: string, last: InspectedLine<StoredEvent> | undefined): string {
  const file = openToRead(path)
  if (file === undefined) throw notFound(dirname(path)) // it was deleted just now
  try {
    return hashingFile(file)(last === undefined ? 0 : last.offset + last.bytes.length + 1)
  } finally {
    closeSync(file)
  }
}

/**
 * Copies into a fork's directory what the events that it inherits name: records, images and files; the log of parts; the agent as
 * it was kept. Links and pipes are left out: they may lead anywhere. Nothing shares an inode with the run.
 */
export function copyBeginning(
  { directory: from, events, seq: last }: Inherited,
  to: string,
  { sync }: { sync: boolean },
): void {
  const [old, own] = [runPaths(from), runPaths(to)]
  const records = recordsNamed(events)
  const blobs = new Set(events.flatMap(blobsIn))
  for (const kind of ['invocations', 'toolExecutions', 'hooks'] as const) {
    if (!isPlain(old[kind], from)) continue
    const names = namesIn(old[kind]).filter((name) =>
      records.has(`io/${basename(old[kind])}/${stemOf(name)}`),
    )
    for (const name of names) copyPlain(join(old[kind], name), join(own[kind], name))
    if (kind === 'invocations')
      for (const name of names) for (const blob of blobsOfRecord(join(own[kind], name))) blobs.add(blob)
  }
  for (const blob of blobs) copyDurably(join(old.blobs, blob), join(own.blobs, blob), { from, sync })
  copyDurably(old.parts, own.parts, { from, sync })
  for (const seq of isPlain(old.configuration, from) ? namesIn(old.configuration) : [])
    if (Number(seq) <= last) copyPlain(join(old.configuration, seq), join(own.configuration, seq))
}

/** `io/<kind>/<name>` of each record that the events name, without what follows the first dot. */
function recordsNamed(events: readonly StoredEvent[]): Set<string> {
  const refs = events.flatMap((event) => {
    const { llm_invocation_ref, execution_ref, io_path_ref, error_details } = Object(event)
    return [llm_invocation_ref, execution_ref, io_path_ref, Object(error_details).llm_invocation_ref]
  })
  return new Set(
    refs.flatMap((ref) => {
      const [, record] = /^(io\/[a-z_]+\/[^/]+)/.exec(String(ref)) ?? []
      return record === undefined ? [] : [stemOf(record)]
    }),
  )
}

function stemOf(name: string): string {
  return name.replace(/\..*$/s, '')
}

function blobsIn(event: StoredEvent): string[] {
  if (!isKnownEvent(event)) return []
  const content = event.type === 'USER_MESSAGE' ? event.content : undefined
  const parts = event.type === 'ACTION_RESULT' ? (event.parts ?? []) : content
  return Array.isArray(parts) ? parts.flatMap((part: ContentPart) => blobNames([Object(part).blob])) : []
}

function blobsOfRecord(path: string): string[] {
  const text = readText(path)
  return text.includes('"blobs"') ? blobNames(Object(parseJson(text)).blobs) : []
}

function blobNames(names: unknown): string[] {
  const list: unknown[] = Array.isArray(names) ? names : []
  return list.filter((name) => typeof name === 'string').filter((name) => /^[0-9a-f]{64}$/.test(name))
}

/** What the fork cannot do without. Of the log, half a line that is being written is not copied. */
function copyDurably(source: string, target: string, { from, sync }: { from: string; sync: boolean }): void {
  if (!isPlain(source, from)) return
  const bytes = readIfThere(source)
  if (bytes === undefined) return
  writing(target, () => mkdirSync(dirname(target), { recursive: true, mode: 0o700 }))
  const isLog = source.endsWith('.jsonl')
  replaceFile(target, isLog ? bytes.subarray(0, bytes.lastIndexOf('\n') + 1) : bytes, { sync })
}

/** False for a path that a link leads out of the run, or anywhere else in it. */
function isPlain(path: string, runDirectory: string): boolean {
  const what = lstatSync(path, { throwIfNoEntry: false })
  if (!what?.isFile() && !what?.isDirectory()) return false
  return isInside(realPath(path), realPath(runDirectory))
}

function copyPlain(from: string, to: string): void {
  const what = lstatSync(from, { throwIfNoEntry: false })
  if (what?.isFile()) {
    writing(to, () => mkdirSync(dirname(to), { recursive: true, mode: 0o700 }))
    writing(to, () => copyFileSync(from, to, constants.COPYFILE_FICLONE))
  }
  if (what?.isDirectory()) for (const name of readdirSync(from)) copyPlain(join(from, name), join(to, name))
}
