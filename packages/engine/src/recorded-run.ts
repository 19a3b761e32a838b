import { isDeepStrictEqual } from 'node:util'
import { AGENT_DEFAULTS } from '@delta/config-loader/internal'
import { replacing } from '@delta/context/internal'
import { recordsIn, runPaths } from '@delta/journal/internal'
import {
  type ActionRequest,
  type ActionResult,
  type EngineStart,
  type HumanInputReceived,
  type HumanInputRequest,
  isKnownEvent,
  type JournalEvent,
  type StoredEvent,
} from '@delta/journal/runs'

type EventOf<Type extends JournalEvent['type']> = Extract<JournalEvent, { type: Type }>

/** What a run's journal says of one tool call. */
export interface RecordedCall {
  actionId: string
  iteration: number
  /** Its place among the calls of its answer, from 0. */
  index: number
  name: string
  /** As the model wrote them. */
  arguments: string
  /** What `${TOOL_HOME}` stood for, outside of the agent's directory. */
  toolHome?: string | undefined
  /** The last one: a call that an engine left open may have been tried again. */
  request?: ActionRequest
  result?: ActionResult
  asked?: { request: HumanInputRequest; answer?: HumanInputReceived }
}

/**
 * What happened between two messages of the user. Engines that were killed and continued meanwhile make no difference; one that
 * ended is followed by a message, or by nothing.
 */
export interface Leg {
  /** What the user said at its beginning, without what the replay inherits. */
  said: EventOf<'USER_MESSAGE'>[]
  /** What was said to it while it ran, by the iteration whose request was the first with it. */
  heard: Map<number, EventOf<'USER_MESSAGE'>[]>
  thoughts: Map<number, EventOf<'THOUGHT'>>
  hooks: EventOf<'HOOK_EXECUTION_AUDIT'>[]
  /** The last result of each call that got one in it. */
  results: Set<ActionResult>
  /** The last end of an engine in it. */
  end?: EventOf<'ENGINE_END'>
  /** The most iterations that an engine in it was started with, if that was not the agent's own number. */
  maxIterations?: number
  /** The record of a last request without a `THOUGHT`. */
  openRequest?: { iteration: number; ref: string }
}

/** A run as a replay of it looks it up, from the iteration after the one that the replay inherits. */
export interface RecordedRun {
  directory: string
  legs: Leg[]
  calls: RecordedCall[]
  /** The tools for which a person said `always`, each with the iteration. */
  always: { name: string; iteration: number }[]
  /** The directories that the run's commands were told of. */
  start: EngineStart | undefined
  /** Directories that the model read of before, each with the one in its place, by starts that the replay does not inherit. */
  paths: readonly (readonly [string, string])[]
  /** The iteration at which the workspace was moved while the run went on; undefined if it was not. */
  movedAt: number | undefined
}

/**
 * Reads what a run did after an iteration.
 *
 * @param events - All events of the run.
 * @param at - The last iteration that the replay inherits. 0: only the first message.
 */
export function recordedRun(directory: string, events: readonly StoredEvent[], at: number): RecordedRun {
  const known = events.filter(isKnownEvent)
  const cut = lastOf(known, at)
  const [before, after] = [known.slice(0, cut + 1), known.slice(cut + 1)]
  const begins = after.findIndex((event) => doesWork(event, at))
  const isStart = (event: JournalEvent): event is EngineStart => event.type === 'ENGINE_START'
  const start = [...before, ...after.slice(0, Math.max(0, begins))].findLast(isStart)
  const first = after.slice(0, Math.max(0, begins)).filter(isStart)
  const later = after.slice(Math.max(0, begins)).filter(isStart)
  const legs = legsOf(after, at)
  if (start && legs[0]) addStart(legs[0], start)
  addOpenRequests(legs, { directory, known, at })
  return {
    directory,
    legs,
    calls: callsIn(after, before.findLast(isStart)),
    always: known.flatMap((event) =>
      event.type === 'HUMAN_INPUT_RECEIVED' && event.remember === 'process' ? alwaysIn(known, event) : [],
    ),
    start,
    paths: first.flatMap(({ paths = [] }) => paths),
    movedAt: later.some(({ paths }) => (paths ?? []).length > 0) ? iterationAt(known, later) : undefined,
  }
}

/** What an engine does after it has started, and before it has failed. The hooks of the iteration itself belong to that. */
function doesWork(event: JournalEvent, at: number): boolean {
  const { type } = event
  if (type === 'ENGINE_START' || type === 'ENGINE_END' || type === 'ERROR' || type === 'SNAPSHOT')
    return false
  const { iteration = 0 } = event
  const isOfEnd = type === 'HOOK_EXECUTION_AUDIT' || type === 'SYSTEM_MESSAGE'
  if (isOfEnd && iteration <= at) return false
  return type !== 'HOOK_EXECUTION_AUDIT' || !['on_error', 'on_run_end'].includes(event.hook_name)
}

function alwaysIn(known: readonly JournalEvent[], { action_id, iteration = 0 }: HumanInputReceived) {
  const request = known.find(
    (event): event is EventOf<'THOUGHT'> =>
      event.type === 'THOUGHT' && event.tool_calls.some((call) => call.action_id === action_id),
  )
  const name = request?.tool_calls.find((call) => call.action_id === action_id)?.name
  return name === undefined ? [] : [{ name, iteration }]
}

/** The iteration before which the last start that moved the run stands. */
function iterationAt(known: readonly JournalEvent[], starts: readonly EngineStart[]): number {
  const moved = starts.findLast(({ paths }) => (paths ?? []).length > 0)
  const thoughts = known.filter(
    (event): event is EventOf<'THOUGHT'> => event.type === 'THOUGHT' && event.seq < (moved?.seq ?? 0),
  )
  return thoughts.at(-1)?.iteration ?? 0
}

/** Index of the last event that a replay inherits. */
function lastOf(known: readonly JournalEvent[], at: number): number {
  if (at === 0) return known.findIndex(({ type }) => type === 'USER_MESSAGE')
  return known.findLastIndex(
    (event) => 'iteration' in event && event.iteration === at && OF_ITERATION.has(event.type),
  )
}

const OF_ITERATION = new Set([
  'THOUGHT',
  'ACTION_REQUEST',
  'ACTION_RESULT',
  'HUMAN_INPUT_REQUEST',
  'HUMAN_INPUT_RECEIVED',
])

function newLeg(): Leg {
  return { said: [], heard: new Map(), thoughts: new Map(), hooks: [], results: new Set() }
}

function legsOf(after: readonly JournalEvent[], at: number): Leg[] {
  const legs = [newLeg()]
  /** The start of an engine that has done nothing yet: a message that it was given begins another leg. */
  let begun: EngineStart | undefined
  for (const event of after) {
    if (event.type === 'ENGINE_START') {
      begun = event
      continue
    }
    const isFirst = event.type === 'USER_MESSAGE' && (begun !== undefined || event.inbox_id === undefined)
    if (isFirst && isBegun(legs.at(-1) as Leg)) legs.push(newLeg())
    const leg = legs.at(-1) as Leg
    if (begun) {
      addStart(leg, begun)
      delete leg.end // the engine before it ended, and this one went on
      begun = undefined
    }
    addTo(leg, event, at)
  }
  if (begun) delete legs.at(-1)?.end
  return legs
}

function addTo(leg: Leg, event: JournalEvent, at: number): void {
  switch (event.type) {
    case 'USER_MESSAGE':
      if (isBegun(leg)) hear(leg, event, at)
      else leg.said.push(event)
      break
    case 'ENGINE_END':
      leg.end = event
      break
    case 'THOUGHT':
      leg.thoughts.set(event.iteration, event)
      break
    case 'HOOK_EXECUTION_AUDIT':
      if ((event.iteration ?? 0) > at) leg.hooks.push(event)
      break
    case 'ACTION_RESULT':
      leg.results.add(event)
      break
    default: // what else there is stands with its call, or is built anew
  }
}

function hear({ heard, thoughts }: Leg, event: EventOf<'USER_MESSAGE'>, at: number): void {
  const next = Math.max(at, ...thoughts.keys()) + 1
  heard.set(next, [...(heard.get(next) ?? []), event])
}

function isBegun({ thoughts, hooks, results, end }: Leg): boolean {
  return thoughts.size + hooks.length + results.size > 0 || end !== undefined
}

/** What was given with `--max-iterations`, and not by the agent. */
function addStart(leg: Leg, { max_iterations: most, config }: EngineStart): void {
  const { max_iterations: own = AGENT_DEFAULTS.maxIterations } = Object(config) as {
    max_iterations?: unknown
  }
  if (typeof most !== 'number' || most === own) return
  leg.maxIterations = Math.max(leg.maxIterations ?? 0, most)
}

/** A request that failed, or that an engine did not live to see answered, has a record and no `THOUGHT`. */
function addOpenRequests(
  legs: readonly Leg[],
  { directory, known, at }: { directory: string; known: readonly JournalEvent[]; at: number },
): void {
  const named = new Set(known.map((event) => Object(event).llm_invocation_ref))
  const records = recordsIn(runPaths(directory).invocations)
    .map((name) => ({
      ref: `io/invocations/${name}`,
      iteration: Number(/_(\d+)\.json$/.exec(name)?.[1]),
      name,
    }))
    .filter(({ ref }) => !named.has(ref))
  let last = at
  for (const [index, leg] of legs.entries()) {
    last = Math.max(last, ...leg.thoughts.keys())
    const until = stampOf(legs[index + 1]?.said[0]?.timestamp)
    const open = records.findLast(({ name, iteration }) => iteration === last + 1 && name < until)
    if (open) leg.openRequest = { iteration: open.iteration, ref: open.ref }
  }
}

/** As the names of records begin. */
function stampOf(timestamp: string | undefined): string {
  return timestamp === undefined ? '\uffff' : timestamp.replace(/[-:.Z]/g, '')
}

function callsIn(after: readonly JournalEvent[], before: EngineStart | undefined): RecordedCall[] {
  const calls = new Map<string, RecordedCall>()
  let homes = before?.tool_homes
  for (const event of after) {
    if (event.type === 'ENGINE_START') homes = event.tool_homes
    if (event.type === 'THOUGHT')
      for (const [index, { action_id, name, arguments: raw }] of event.tool_calls.entries())
        calls.set(action_id, { actionId: action_id, iteration: event.iteration, index, name, arguments: raw })
    const call = 'action_id' in event ? calls.get(event.action_id ?? '') : undefined
    if (call === undefined) continue
    if (event.type === 'ACTION_REQUEST') {
      call.request = event
      call.toolHome = homes?.[call.name]
    }
    if (event.type === 'ACTION_RESULT') call.result = event
    if (event.type === 'HUMAN_INPUT_REQUEST') call.asked = { request: event }
    if (event.type === 'HUMAN_INPUT_RECEIVED' && call.asked) call.asked.answer = event
  }
  return [...calls.values()]
}

/** What a call of today would start, to be found in a record. */
export interface Started {
  name: string
  /** Without what a sandbox puts around it. */
  argv: readonly string[]
  stdinSha256: string | null
  toolHome: string
}

/**
 * True if the recorded call started the same. Journals of before 0.2 do not say what was on stdin. A package of tools may lie
 * elsewhere by now.
 */
export function isSame(
  { name, request, toolHome }: RecordedCall,
  { name: called, argv, stdinSha256, toolHome: home }: Started,
  inNewPaths: (text: string) => string,
): boolean {
  const recorded = request?.sandbox?.argv ?? request?.argv
  if (name !== called || !recorded) return false
  const stdin = request?.stdin_sha256
  if (stdin !== undefined && stdin !== stdinSha256) return false
  const homes = toolHome === undefined ? [] : [toolHome, home]
  const inOnePlace = replacing(homes.map((path): [string, string] => [path, '${TOOL_HOME}']))
  return isDeepStrictEqual(
    recorded.map((word) => inOnePlace(inNewPaths(word))),
    argv.map(inOnePlace),
  )
}
