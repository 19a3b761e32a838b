import { closeSync, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { asRepairError, isJournalError } from './errors.js'
import { isKnownEvent, type StoredEvent } from './events.js'
import { hashingFile, openToRead, readText } from './files.js'
import { readBeginning } from './inherit.js'
import { type InspectedLine, inspectJournal } from './inspect.js'
import { refuseLinkedRun } from './layout.js'
import { takeLease } from './lease.js'
import { runEventSchema } from './old-formats.js'
import { notFound } from './read-runs.js'
import { journalPath, runPaths } from './run-paths.js'
import {
  damageIn,
  type Finding,
  type JournalReport,
  NO_BEGINNING,
  note,
  nothingToRepair,
  type RepairResult,
  repairJournal,
  verifyJournal,
} from './verify.js'

const schema = runEventSchema

/**
 * Looks through the journal of a run, which must also have a beginning to be continued, and exactly one result for every call. The
 * lines before an `ENGINE_END` must have the SHA-256 that it records, and so must those that a fork has copied, while the run that
 * it was made of is there.
 *
 * @throws {JournalError} `ERR_JOURNAL_READ`
 */
export function verifyRun(runDirectory: string): JournalReport {
  const path = journalPath(runDirectory)
  return verifyJournal(path, {
    schema,
    check: (events, lines) => [
      ...callFindings(events).map((message) => note(message)),
      ...changedLines(path, lines),
      ...events.flatMap((event) => changedParent(path, event)),
      ...missingBeginning(events),
    ],
  })
}

/** The first ENGINE_END whose SHA-256 is not that of the lines before it: a later one would only say the same, and damage is named already. */
function changedLines(path: string, lines: InspectedLine<StoredEvent>[]): Finding[] {
  const file = lines.some(({ problem }) => problem !== undefined) ? undefined : openToRead(path)
  if (file === undefined) return []
  try {
    const hashUpTo = hashingFile(file)
    let first = 1
    for (const { event, line, offset } of lines) {
      if (event === undefined || !isKnownEvent(event) || event.type !== 'ENGINE_END') continue
      if (event.sha256 === undefined || event.inherited) continue
      if (hashUpTo(offset) !== event.sha256) {
        const message = `Lines ${first} to ${line - 1} are not as they were when this ENGINE_END recorded their SHA-256.`
        return [{ kind: 'changed', line, message }]
      }
      first = line
    }
    return []
  } finally {
    closeSync(file)
  }
}

/** The lines that a fork copied must still be those of its parent. */
function changedParent(path: string, event: StoredEvent): Finding[] {
  if (!isKnownEvent(event) || event.type !== 'ENGINE_START' || event.inherited || !event.parent) return []
  const { directory, seq, sha256 } = event.parent
  const now = sha256UpTo(journalPath(directory), seq)
  if (now === undefined) return []
  if (now === sha256) return changedCopy(path, directory, seq)
  const message = `This run is a fork of ${directory}, whose events up to ${seq} are not as they were when it was made.`
  return [{ kind: 'changed', message }]
}

/** The lines of a fork that are no longer those of the run. */
function changedCopy(path: string, directory: string, seq: number): Finding[] {
  const upTo = (events: readonly StoredEvent[]) => events.findLastIndex((event) => event.seq <= seq) + 1
  const inherited = readBeginning(directory, upTo).lines.split('\n').slice(0, -1)
  const own = readText(path).split('\n')
  const index = inherited.findIndex((line, at) => line !== own[at])
  if (index === -1) return []
  const message = `It was inherited from ${directory}, and is not as it is there.`
  return [{ kind: 'changed', line: index + 1, message }]
}

/** The SHA-256, in hexadecimal, of a journal up to and with the line of an event. Undefined without the file. */
function sha256UpTo(path: string, seq: number): string | undefined {
  const file = openToRead(path)
  if (file === undefined) return undefined
  try {
    const last = inspectJournal(path, schema).lines.find(({ event }) => event?.seq === seq)
    return hashingFile(file)(last === undefined ? 0 : last.offset + last.bytes.length + 1)
  } finally {
    closeSync(file)
  }
}

/** A run has a start, and a message or a thought: without them its status is `EMPTY`. */
function missingBeginning(events: StoredEvent[]): Finding[] {
  const types = new Set(events.map(({ type }) => type))
  if (types.has('ENGINE_START') && (types.has('USER_MESSAGE') || types.has('THOUGHT'))) return []
  const what = types.has('ENGINE_START')
    ? 'no USER_MESSAGE, which says what is to be done'
    : 'no ENGINE_START, which names the agent'
  return [{ kind: 'beginning', message: `It has ${what}: the run cannot be continued.` }]
}

/** What breaks "every call gets exactly one result", in words; nothing for a sound journal. */
function callFindings(events: StoredEvent[]): string[] {
  const calls = new Map<string, { asked: string; thought: number; results: number }>()
  const findings: string[] = []
  let lastThought = 0
  for (const event of events.filter(isKnownEvent)) {
    if (event.type === 'THOUGHT') {
      const thought = event.seq
      lastThought = thought
      for (const { action_id, name } of event.tool_calls) {
        if (calls.has(action_id))
          findings.push(`Event ${thought} uses the action id ${action_id} a second time.`)
        calls.set(action_id, {
          asked: `${name} (${action_id}, asked for by event ${thought})`,
          thought,
          results: 0,
        })
      }
    }
    if (event.type === 'ACTION_RESULT') {
      const call = calls.get(event.action_id)
      if (call) call.results += 1
      else
        findings.push(`Event ${event.seq} is the result of ${event.action_id}, which no THOUGHT asked for.`)
    }
  }
  for (const { asked, thought, results } of calls.values()) {
    if (results > 1) findings.push(`${asked} has ${results} results.`)
    // calls of the last THOUGHT may still be running
    if (results === 0 && thought !== lastThought) findings.push(`${asked} has no result.`)
  }
  return findings
}

/**
 * Repairs the journal of a run, as its only writer.
 *
 * @param options.force - End a live owner on this machine first.
 * @throws {JournalError} `ERR_RUN_BUSY`: somebody writes it. `ERR_RUN_NOT_FOUND`. `ERR_RUNS_DIRECTORY`: a link is in its place;
 *   besides, as `repairJournal`.
 */
export async function repairRun(
  runDirectory: string,
  options: { force?: boolean | undefined } = {},
): Promise<RepairResult> {
  const directory = resolve(runDirectory)
  if (!existsSync(directory)) throw notFound(directory)
  refuseLinkedRun(directory)
  const path = journalPath(directory)
  try {
    const lease = await takeLease(runPaths(directory).lease, options)
    try {
      return withProblem(repairJournal(path, { schema }), directory)
    } finally {
      lease.release()
    }
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_WRITE') throw error
    if (damageIn(path, { schema }).length > 0) throw asRepairError(error)
    return withProblem(nothingToRepair(path), directory) // which takes no disk that can be written
  }
}

/** Repairing does not bring back a lost beginning. */
function withProblem(result: RepairResult, directory: string): RepairResult {
  const { findings } = verifyRun(directory)
  const problem = findings.find(({ kind }) => kind === 'beginning')?.message
  if (problem === undefined) return result
  return { ...result, problem, text: `${result.text}\n${problem}\n${NO_BEGINNING}` }
}
