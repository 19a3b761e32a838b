import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { asRepairError, isJournalError } from './errors.js'
import { damageIn, nothingToRepair, type RepairResult, repairJournal } from './repair.js'
import { type Finding, type JournalReport, NO_BEGINNING, note, verifyJournal } from './verify.js'
import { isKnownEvent, runEventSchema, type StoredEvent } from './events.js'
import { takeLease, type Waiting } from './lease.js'
import { journalPath, runPaths } from './paths.js'
import { notFound } from './read-run.js'

const schema = runEventSchema

/**
 * Looks through the journal of a run, which must also have a beginning to be continued, and exactly one result for every call.
 *
 * @throws {JournalError} `ERR_JOURNAL_READ`
 */
export function verifyRun(runDirectory: string): JournalReport {
  return verifyJournal(journalPath(runDirectory), { schema, check: (events) => findingsOf(events) })
}

function findingsOf(events: StoredEvent[]): Finding[] {
  return [...callFindings(events).map((message) => note(message)), ...missingBeginning(events)]
}

/** As the status `EMPTY` is told: what has no start, or neither a message nor a thought, was never begun. */
function missingBeginning(events: StoredEvent[]): Finding[] {
  const types = new Set(events.map(({ type }) => type))
  if (types.has('ENGINE_START') && (types.has('USER_MESSAGE') || types.has('THOUGHT'))) return []
  const what = types.has('ENGINE_START')
    ? 'no USER_MESSAGE, which says what is to be done'
    : 'no ENGINE_START, which names the agent'
  return [{ kind: 'beginning', message: `It has ${what}: the run cannot be continued.` }]
}

interface Call {
  action_id: string
  name: string
  thought: number
  results: number
}

/** What breaks "every call gets exactly one result", in words; nothing for a sound journal. */
function callFindings(events: StoredEvent[]): string[] {
  const calls = new Map<string, Call>()
  const findings: string[] = []
  let lastThought = 0
  for (const event of events) {
    if (!isKnownEvent(event)) continue
    if (event.type === 'THOUGHT') {
      lastThought = event.seq
      for (const { action_id, name } of event.tool_calls) {
        if (calls.has(action_id))
          findings.push(`Event ${event.seq} uses the action id ${action_id} a second time.`)
        calls.set(action_id, { action_id, name, thought: event.seq, results: 0 })
      }
    }
    if (event.type === 'ACTION_RESULT') {
      const call = calls.get(event.action_id)
      if (call) call.results += 1
      else
        findings.push(`Event ${event.seq} is the result of ${event.action_id}, which no THOUGHT asked for.`)
    }
  }
  return [...findings, ...[...calls.values()].flatMap((call) => countFinding(call, lastThought))]
}

function countFinding({ action_id, name, thought, results }: Call, lastThought: number): string[] {
  if (results > 1) return [`${name} (${action_id}, asked for by event ${thought}) has ${results} results.`]
  if (results === 1 || thought === lastThought) return [] // calls of the last THOUGHT may still be running
  return [`${name} (${action_id}, asked for by event ${thought}) has no result.`]
}

/**
 * Repairs the journal of a run, as its only writer.
 *
 * @param options.force - End a live owner on this machine first.
 * @throws {JournalError} `ERR_RUN_BUSY`: somebody writes it. `ERR_RUN_NOT_FOUND`; besides, as `repairJournal`.
 */
export async function repairRun(
  runDirectory: string,
  options: { force?: boolean | undefined } & Waiting = {},
): Promise<RepairResult> {
  const { force = false, ...waiting } = options
  const directory = resolve(runDirectory)
  if (!existsSync(directory)) throw notFound(directory)
  const path = journalPath(directory)
  try {
    const lease = await takeLease(runPaths(directory).lease, { force, ...waiting })
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

/** What repairing cannot mend: a journal without its beginning. */
function withProblem(result: RepairResult, directory: string): RepairResult {
  const { findings } = verifyRun(directory)
  const problem = findings.find(({ kind }) => kind === 'beginning')?.message
  if (problem === undefined) return result
  return { ...result, problem, text: `${result.text}\n${problem}\n${NO_BEGINNING}` }
}
