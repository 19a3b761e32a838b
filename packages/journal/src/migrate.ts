import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createFile, syncPath } from '@delta/durable'
import type { RawLine } from './event.js'
import { isKnownEvent, isToday, type StoredEvent } from './events.js'
import { readFirstLine, readText } from './files.js'
import { readOldJournal } from './inspect.js'
import { announceRun } from './layout.js'
import { parseJson } from './lines.js'
import { modernise, runEventSchema } from './old-formats.js'
import { journalPath, runPaths } from './run-paths.js'
import { workDirectoryOf } from './work-directory.js'

/** A run of an old layout that was converted. */
export interface Migration {
  /** Where the run goes on. */
  directory: string
  /** A sentence for the user. */
  notice: string
}

/**
 * Converts a run of an old layout: writes a copy of it in today's layout beside it.
 *
 * The old directory is not touched. The new one appears whole, by a rename: a crash
 * before that leaves a directory that is never listed. When the new one is there
 * already, the run goes on in it. `LATEST` then names it.
 *
 * @returns Undefined for a run of today's layout.
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`.
 */
export function migrateRun(directory: string): Migration | undefined {
  const to = migratedDirectory(directory)
  if (to === undefined) return undefined
  const nested = isNested(directory)
  const already = existsSync(to)
  if (!already) writeAnew(directory, to, nested)
  announceRun(dirname(to), basename(to))
  const how = already ? 'had been converted already' : 'has been converted; the old one was left as it is'
  return {
    directory: to,
    notice: `The run in ${directory} has an old layout and ${how}. It goes on in ${to}`,
  }
}

/** Where a run of an old layout goes on, whether that is there or not; undefined for a run of today's. */
export function migratedDirectory(directory: string): string | undefined {
  const isOld = isNested(directory) || (!hasLease(directory) && isOldJournal(journalPath(directory)))
  if (!isOld) return undefined
  const runs = dirname(directory)
  return isNested(directory) && basename(runs) === 'runs'
    ? join(dirname(runs), basename(directory))
    : `${directory}-continued`
}

/** No older version took leases. */
function hasLease(directory: string): boolean {
  return existsSync(runPaths(directory).lease)
}

function isNested(directory: string): boolean {
  return basename(dirname(journalPath(directory))) === 'execution'
}

/** Old journals are old from their first line on. */
function isOldJournal(path: string): boolean {
  const first = parseJson(readFirstLine(path))
  return first !== undefined && !isToday(first) && readOldJournal(path, runEventSchema).old
}

function writeAnew(from: string, to: string, nested: boolean): void {
  const beside = join(dirname(to), `.${basename(to)}.${randomBytes(4).toString('hex')}.tmp`)
  try {
    if (nested) copyNested(from, beside)
    else copyTree(from, beside, { except: (name) => name === 'lease' || /^(journal|metadata)\./.test(name) })
    const lines = newEvents(from, basename(to)).map((event) => `${JSON.stringify(event)}\n`)
    createFile(join(beside, 'journal.jsonl'), lines.join(''))
    syncPath(beside)
    renameSync(beside, to)
    syncPath(dirname(to))
  } catch (error) {
    rmSync(beside, { recursive: true, force: true })
    if (!existsSync(to)) throw error // else another process was faster, with the same result
  }
}

/** v1.1: `execution/`, `configuration/`, `runtime_io/`. */
function copyNested(from: string, to: string): void {
  const execution = join(from, 'execution')
  copyTree(execution, to, { except: (name) => /^(journal|metadata)\./.test(name) })
  for (const [old, today] of [
    ['configuration', 'configuration'],
    ['runtime_io', 'io'],
    ['interaction', 'interaction'],
  ] as const) {
    if (existsSync(join(from, old))) copyTree(join(from, old), join(to, today))
  }
}

function newEvents(directory: string, runId: string): StoredEvent[] {
  const schema = { ...runEventSchema, upcast: (lines: RawLine[]) => modernise(lines, 'io') }
  const { events } = readOldJournal<StoredEvent>(journalPath(directory), schema)
  const workspace = basename(workDirectoryOf(directory) ?? dirname(dirname(directory)))
  const names = { workspace_id: workspace, run_id: runId, migrated_from: directory }
  const renamed = events.map((event) => (event.type === 'ENGINE_START' ? { ...event, ...names } : event))
  return withFirstMessage(renamed, directory).map((event, index) => ({ ...event, seq: index + 1 }))
}

/** Where an old journal has only its task, the task becomes what it is today: the first message. */
export function withFirstMessage(events: StoredEvent[], directory: string): StoredEvent[] {
  const known = events.filter(isKnownEvent)
  const start = known.find((event) => event.type === 'ENGINE_START')
  const said = known.find((event) => event.type === 'USER_MESSAGE' || event.type === 'THOUGHT')
  const content = start?.task ?? taskInMetadata(directory)
  if (!start || said?.type === 'USER_MESSAGE' || content === undefined) return events
  const at = events.indexOf(start) + 1
  const message: StoredEvent = { seq: 0, timestamp: start.timestamp, type: 'USER_MESSAGE', content }
  return [...events.slice(0, at), message, ...events.slice(at)]
}

/** Undefined when the file is missing or torn. */
function taskInMetadata(directory: string): string | undefined {
  const metadata = parseJson(readText(join(dirname(journalPath(directory)), 'metadata.json')))
  const { initial_message: message, task } = Object(metadata) as Record<string, unknown>
  return [message, task].find((value) => typeof value === 'string')
}

/**
 * Copies the files and directories below `from` into `to`, readable by their owner only, and waits until they are on the disk.
 * Links and other special files are left out: a record never was one.
 */
function copyTree(
  from: string,
  to: string,
  { except = () => false }: { except?: (name: string) => boolean } = {},
): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (except(entry.name)) continue
    if (entry.isDirectory()) copyTree(source, target)
    if (!entry.isFile()) continue
    copyFileSync(source, target)
    chmodSync(target, 0o600)
    syncPath(target)
  }
  syncPath(to)
}
