import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { ContextBlock } from '@delta/context'
import { isJournalError, readJournal } from '@delta/journal'
import { journalPath, latestRunId, runDirectory } from '@delta/journal/internal'
import {
  type ActionRequest,
  isKnownEvent,
  listRuns,
  type RunSummary,
  readRun,
  runEventSchema,
  type StoredEvent,
} from '@delta/journal/runs'
import type { LeftOut } from '@delta/model'
import { commandAt, type Place, placeInWords, placeOfRun } from '@delta/workspace'
import { counted, printable } from './text.js'
import { UsageError } from './usage.js'

/**
 * The run for a command that only reads: the named one, or the workspace's latest. A damaged or empty journal is not refused;
 * the summary's `problem` and `status` tell of it.
 */
export async function findShownRun(place: Place, runId: string | undefined): Promise<RunSummary> {
  const { workDirectory } = place
  const latest = await latestRunId(workDirectory, { ...place, orEmpty: true })
  if (latest === undefined) {
    const what = runId === undefined ? 'No runs' : `No run ${runId}`
    const others = runId === undefined ? '' : ' There are no others.'
    throw new UsageError(`${what} in ${placeInWords(place)}.${others} Choose another workspace with -w.`)
  }
  const id = runId === undefined ? latest : await resolveRunId(runId, place)
  try {
    return await readRun(runDirectory(workDirectory, id, place), { tolerant: true })
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_RUN_NOT_FOUND') throw error
    const list = commandAt(place, 'list-runs')
    throw new UsageError(
      `No run ${id} in ${placeInWords(place)}. There are others.\nTo see which runs there are: ${list}`,
    )
  }
}

/**
 * The id of the run that was typed, in full or as a unique prefix. If no id begins so, it is returned as typed: the next
 * lookup reports that the run does not exist.
 *
 * @throws {UsageError} Several ids begin so; the message lists them.
 */
export async function resolveRunId(typed: string, place: Place): Promise<string> {
  const { workDirectory } = place
  if (typed === '' || existsSync(runDirectory(workDirectory, typed, place))) return typed
  const all = await listRuns(workDirectory, place)
  const ids = all.map(({ runId }) => runId).filter((id) => id.startsWith(typed))
  if (ids.length <= 1) return ids[0] ?? typed
  const shown = ids.slice(-MOST_IDS).map((id) => `  ${id}`)
  const more = ids.length > MOST_IDS ? [`To see all: ${commandAt(place, 'list-runs')}`] : []
  throw new UsageError(
    [
      `The ids of ${ids.length} runs begin with ${typed}. Type more of the one you mean:`,
      ...shown,
      ...more,
    ].join('\n'),
  )
}

/** The newest: a workspace may have hundreds of the same day. */
const MOST_IDS = 10

/** Which calls are meant: those of one tool, those that did not succeed, or both. */
export interface CallFilter {
  tool?: string | undefined
  failed?: boolean | undefined
}

/** An event of a call; of one that is not known, whatever it has of these fields. */
type CallEvent = StoredEvent & { action_id?: unknown; status?: unknown }

/**
 * Lets only these calls through, each with the thought that made it. An event may be held back until the call's result is
 * there, so what goes in comes out later, or never. Failed requests to the model pass as failed calls do.
 */
export function callFilter({ tool, failed = false }: CallFilter): (event: StoredEvent) => StoredEvent[] {
  if (tool === undefined && !failed) return (event) => [event]
  let thought: StoredEvent[] = []
  const shown = new Set<unknown>()
  /** What waits for its result, by the calls of the last thought that may be meant. */
  const held = new Map<unknown, StoredEvent[]>()

  return (event) => {
    if (isKnownEvent(event) && event.type === 'THOUGHT') {
      thought = [event]
      held.clear()
      for (const { name, action_id } of event.tool_calls)
        if (tool === undefined || name === tool) held.set(action_id, [])
      return []
    }
    const { type, action_id: id, status } = event as CallEvent
    if (id === undefined) return type === 'ERROR' && failed && tool === undefined ? [event] : []
    if (shown.has(id)) return [event]
    const before = held.get(id)
    if (before === undefined) return []
    before.push(event)
    if (failed && (type !== 'ACTION_RESULT' || status === 'SUCCESS')) return []
    const made = thought
    thought = []
    shown.add(id)
    return [...made, ...before]
  }
}

/**
 * Adds the runs that a call started to its result, where the journal does not name them: of the runs beside this one, and of those
 * in the workspace that the call names with `-w`, the ones that have this run as their caller and began during the call. A call
 * beside which others ran gets none, since they may be another's.
 */
export function childFinder({ runId, directory }: RunSummary): (event: StoredEvent) => Promise<StoredEvent> {
  const place = placeOfRun(directory)
  const calledIn = listerOfCalled(runId, place)
  const open = new Map<string, ActionRequest>()
  let aloneSince: string | undefined

  return async (event) => {
    if (!isKnownEvent(event)) return event
    if (event.type === 'ACTION_REQUEST' && !open.has(event.action_id)) {
      open.set(event.action_id, event)
      aloneSince = open.size === 1 ? event.timestamp : undefined
    }
    if (event.type !== 'ACTION_RESULT') return event
    const from = aloneSince
    const request = open.get(event.action_id)
    open.delete(event.action_id)
    if (open.size === 0) aloneSince = undefined
    if (!request?.argv || event.child_runs !== undefined || from === undefined) return event
    const found = new Map<string, { run_id: string; directory: string }>()
    for (const workDirectory of new Set([place.workDirectory, ...workspacesIn(request.argv, place)]))
      for (const { metadata, runId: run_id, directory } of await calledIn(workDirectory, event.timestamp)) {
        const { created_at: began } = metadata
        if (began !== null && from <= began && began <= event.timestamp)
          found.set(directory, { run_id, directory })
      }
    return found.size === 0 ? event : { ...event, child_runs: [...found.values()] }
  }
}

/** Lists the runs in a workspace that have this one as their caller. A list is made anew only for what came after it. */
function listerOfCalled(runId: string, place: Place) {
  const listed = new Map<string, { at: number; runs: RunSummary[] }>()
  return async (workDirectory: string, until: string): Promise<RunSummary[]> => {
    const known = listed.get(workDirectory)
    if (known !== undefined && Date.parse(until) <= known.at) return known.runs
    const at = Date.now()
    const runs = existsSync(workDirectory)
      ? await listRuns(workDirectory, { ...place, ofAnyWorkspace: true, calledBy: runId })
      : []
    listed.set(workDirectory, { at, runs })
    return runs
  }
}

/** What a command line of delta names with `-w`. */
function workspacesIn(argv: readonly string[], { workDirectory }: Place): string[] {
  const named = argv[argv.findIndex((word) => word === '-w' || word === '--work-dir') + 1]
  return named === undefined || named === argv[0] ? [] : [resolve(workDirectory, named)]
}

/** One line for each part of what the model saw before a thought, from the record of its request; '' without one. */
export async function contextOfStep(runDirectory: string, event: StoredEvent): Promise<string> {
  const iteration = 'iteration' in event ? event.iteration : ''
  const ref = 'llm_invocation_ref' in event ? event.llm_invocation_ref : undefined
  if (typeof ref !== 'string') return ''
  const { blocks, leftOut } = await readRecord(runDirectory, ref)
  if (blocks.length === 0) return ''
  const lines = blocks.map(
    ({ source_id: id, type, messages, bytes, tokens, note }) =>
      `   ${printable(String(id))}: ${type === 'tools' ? '' : `${counted(messages, 'message')}, `}${bytes} bytes, about ${tokens} tokens${note === undefined ? '' : ` (${printable(note)})`}`,
  )
  const apis = [...new Set(leftOut.map(({ api }) => printable(String(api))))].join(', ')
  const without =
    apis &&
    `   left out: reasoning of ${counted(leftOut.length, 'answer')} that only its own API can read (${apis})\n`
  return `The model saw (--request ${iteration} prints all of it):\n${lines.join('\n')}\n${without}`
}

/** What the record of a request says (`llm_invocation_ref`). */
interface RequestRecord {
  blocks: ContextBlock[]
  leftOut: LeftOut[]
}

/** The record of a request, empty if there is no such file. */
export async function readRecord(runDirectory: string, ref: string): Promise<RequestRecord> {
  const path = join(runDirectory, ref)
  try {
    const isFile = (await stat(path)).isFile() // reading a pipe would block
    const { blocks, left_out: leftOut } = isFile ? JSON.parse(await readFile(path, 'utf8')) : {}
    return { blocks: [blocks ?? []].flat(), leftOut: [leftOut ?? []].flat() }
  } catch {
    return { blocks: [], leftOut: [] } // a run of an old layout has no such record; the transcript does not need it
  }
}

const LOOK_AGAIN_MS = 200

/**
 * A run's events, including those still to come, until the run ends or waits for input. While no process writes it, because
 * it has not begun or its engine was killed, one may still take it up: `onLeft` is called once each time, and following
 * continues.
 */
export async function* followJournal(
  { directory }: RunSummary,
  { onLeft }: { onLeft: (run: RunSummary) => void },
): AsyncGenerator<StoredEvent> {
  const path = journalPath(directory)
  let fromOffset = 0
  let isLeft = false
  const read = async (): Promise<StoredEvent[]> => {
    const { events, endOffset } = await readJournal(path, { fromOffset, schema: runEventSchema })
    fromOffset = endOffset
    return events
  }
  for (;;) {
    const events = await read()
    yield* events
    if (events.length > 0) continue
    const now = await readRun(directory, { tolerant: true })
    const late = await read() // its last events may have come after the first read
    yield* late
    if (!mayGoOn(now)) return
    if (late.length > 0) continue
    const wasLeft = isLeft
    isLeft = now.owner?.alive !== true
    if (isLeft && !wasLeft) onLeft(now)
    await wait(LOOK_AGAIN_MS)
  }
}

/**
 * An engine that was killed wrote no `ENGINE_END`, and `delta continue` appends to the same journal. Not so for an
 * old layout, which had no leases: that run continues in another directory.
 */
function mayGoOn(run: RunSummary): boolean {
  if (run.status === 'RUNNING') return true
  if (run.status === 'EMPTY') return mayBegin(run)
  const wasLeft = run.status === 'INTERRUPTED' && run.metadata.end_time === null && run.problem === undefined
  return wasLeft && existsSync(join(run.directory, 'lease'))
}

/** Whether an empty run may still begin. If its metadata exist it has begun, and its journal was deleted. */
export function mayBegin({ owner, directory, problem }: RunSummary): boolean {
  if (owner?.alive) return true
  return problem === undefined && !existsSync(join(directory, 'metadata.json'))
}
