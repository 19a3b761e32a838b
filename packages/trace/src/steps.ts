import {
  type ActionRequest,
  type ActionResult,
  type ContentPart,
  type EngineStart,
  type ErrorEvent,
  type HookExecutionAudit,
  type HumanInputReceived,
  type HumanInputRequest,
  isKnownEvent,
  type JournalEvent,
  type SnapshotEvent,
  type StoredEvent,
  type Thought,
  type ToolCallRecord,
} from '@delta/journal/runs'
import { reasoningOf } from '@delta/model'
import { outputBytes, readOutput } from './call-output.js'
import { isPaid } from './prices.js'
import { type SentRequest, sentRequest } from './sent-request.js'
import type { ChildRun } from './traced-run.js'

/** What the model is told in an iteration beside results: by the user, or by the engine. */
export interface Said {
  at: Date
  role: 'user' | 'system'
  /** Its text; of several parts, those that are text. */
  text: string
  /** Its parts, if it is not only text. */
  parts?: ContentPart[]
  inherited: boolean
  seq: number
}

/** A tool call, and what came of it. */
export interface StepCall {
  actionId: string
  name: string
  /** As the model sent them, parsed; the raw string if it is not JSON. */
  args: unknown
  /** The same as the string that the model wrote. */
  argumentsText: string
  /** As a person would type it. Null: it was refused, or did not start. */
  command: string | null
  /** Without what a sandbox puts around it. */
  argv: string[] | null
  /** Undefined while it has no result. */
  status: ActionResult['status'] | undefined
  exitCode: number | null
  /** The result as the model reads it, unless a hook replaced it. */
  observation: string
  /** Its parts, if it is not only text. */
  parts?: ContentPart[]
  /** What a hook put in its place. */
  override?: string
  /** When it may have started, and when its result was journaled. */
  startedAt: Date | undefined
  endedAt: Date | undefined
  durationMs: number | null
  children: ChildRun[]
  /** What a person was asked before it, and their answer. */
  asked?: { request: HumanInputRequest; answer?: HumanInputReceived }
  /**
   * A piece of what the command printed. Empty if nothing is recorded.
   *
   * @param from - The first byte. Default: 0.
   * @param bytes - How many at most. Default: 64 KiB.
   */
  output(stream: 'stdout' | 'stderr', from?: number, bytes?: number): Promise<Buffer>
  /** How much of it there is. */
  outputBytes(stream: 'stdout' | 'stderr'): Promise<number>
}

/** One iteration as a reader sees it. */
export interface Step {
  /** The iteration. */
  n: number
  /** True: it was copied from the run of which this one is a fork. */
  inherited: boolean
  /** True: its answer was taken from a record. */
  replayed: boolean
  /** When its first event was journaled. */
  at: Date
  /** The engines that took the run before it, or within it. */
  starts: EngineStart[]
  /** By the user and the engine, before its request. */
  said: Said[]
  /** The request whose answer counts; of an iteration without one, the last that is recorded. */
  request?: SentRequest
  /** The requests whose answers were paid for and not used: they could not be read, or were lost. */
  unused: SentRequest[]
  thought?: { at: Date; content: string; reasoning?: string; seq: number }
  /** In the order of the model. */
  calls: StepCall[]
  errors: ErrorEvent[]
  hooks: HookExecutionAudit[]
  snapshot?: SnapshotEvent
  /** How long the model took. Milliseconds; undefined if it is not recorded. */
  modelMs: number | undefined
  /** How long its calls took, added up. Milliseconds. */
  toolMs: number
}

/** What the events do not say of themselves. */
export interface StepSurroundings {
  runDirectory: string
  /** The runs that a call started. */
  childrenOf(result: ActionResult): ChildRun[]
  /** The model that the run names. */
  model: string | null
  /** The record of the last request of an iteration. */
  lastRecordOf(n: number): string | undefined
}

/**
 * Groups the events of a run into steps, in order.
 *
 * An event belongs to the iteration that it names. A message that comes after a thought, before its last result, is said before
 * the next request: so the model reads it.
 */
export async function* stepsOf(
  events: AsyncIterable<StoredEvent> | Iterable<StoredEvent>,
  surroundings: StepSurroundings,
): AsyncGenerator<Step> {
  let next = emptyDraft(1)
  /** At most the last two iterations: the snapshot of one may follow the thought of the next. */
  const open: Draft[] = []
  for await (const event of events) {
    if (!isKnownEvent(event)) continue
    if (event.type === 'SNAPSHOT') {
      // a later engine may take it: that engine began the next iteration, not this one
      const taken = open.findLast(({ n }) => n === event.iteration)
      if (taken) addTo(taken, event)
      continue
    }
    const isSaid = event.type === 'USER_MESSAGE' || event.type === 'SYSTEM_MESSAGE'
    if (isSaid) next.said.push(saidBy(event))
    if (event.type === 'ENGINE_START') next.starts.push(event)
    const last = open.at(-1)
    const iteration = 'iteration' in event ? event.iteration : undefined
    if (isSaid || iteration === undefined) {
      next.at ??= new Date(event.timestamp)
      continue
    }
    if (last === undefined || iteration > last.n) {
      open.push({ ...next, n: iteration, at: next.at ?? new Date(event.timestamp) })
      next = emptyDraft(iteration + 1)
    } else if (last.n === iteration) {
      last.starts.push(...next.starts.splice(0)) // an engine that settles what the one before left open
      next.at = next.said[0]?.at
    }
    const step = open.findLast(({ n }) => n === iteration)
    if (step) addTo(step, event)
    if (open.length > 2) yield await finished(open.shift() as Draft, surroundings)
  }
  if (next.said.length > 0) open.push(next)
  for (const draft of open) yield await finished(draft, surroundings)
}

/** The events of an iteration that is still read. */
interface Draft {
  n: number
  at?: Date | undefined
  starts: EngineStart[]
  said: Said[]
  thought?: Thought
  calls: ToolCallRecord[]
  /** These three by the id of their call. */
  requests: Map<string, ActionRequest>
  results: Map<string, ActionResult>
  asked: Map<string, { request: HumanInputRequest; answer?: HumanInputReceived }>
  errors: ErrorEvent[]
  hooks: HookExecutionAudit[]
  snapshot?: SnapshotEvent
}

function emptyDraft(n: number): Draft {
  return {
    n,
    starts: [],
    said: [],
    calls: [],
    requests: new Map(),
    results: new Map(),
    asked: new Map(),
    errors: [],
    hooks: [],
  }
}

function addTo(step: Draft, event: JournalEvent): void {
  switch (event.type) {
    case 'THOUGHT':
      step.thought = event
      step.calls = event.tool_calls
      break
    case 'ACTION_REQUEST':
      step.requests.set(event.action_id, event)
      break
    case 'ACTION_RESULT':
      step.results.set(event.action_id, event)
      break
    case 'HUMAN_INPUT_REQUEST':
      if (event.action_id !== undefined) step.asked.set(event.action_id, { request: event })
      break
    case 'HUMAN_INPUT_RECEIVED': {
      const asked = step.asked.get(event.action_id ?? '')
      if (asked) asked.answer = event
      break
    }
    case 'ERROR':
      step.errors.push(event)
      break
    case 'HOOK_EXECUTION_AUDIT':
      step.hooks.push(event)
      break
    case 'SNAPSHOT':
      step.snapshot = event
      break
    default: // messages and the life of engines have no iteration
  }
}

function saidBy(event: Extract<JournalEvent, { type: 'USER_MESSAGE' | 'SYSTEM_MESSAGE' }>): Said {
  const { content } = event
  return {
    at: new Date(event.timestamp),
    role: event.type === 'USER_MESSAGE' ? 'user' : 'system',
    text: typeof content === 'string' ? content : textIn(content),
    ...(typeof content !== 'string' && { parts: content }),
    inherited: event.inherited === true,
    seq: event.seq,
  }
}

function textIn(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

async function finished(draft: Draft, surroundings: StepSurroundings): Promise<Step> {
  const { n, at = new Date(Number.NaN), starts, said, thought, errors, hooks, snapshot } = draft
  const request = await requestIn(draft, surroundings)
  const calls = draft.calls.map((call) => callIn(draft, call, surroundings))
  const reasoning = thought?.message ? reasoningOf(Object(thought.message)) : ''
  return {
    n,
    inherited: thought?.inherited === true,
    replayed: thought?.replayed === true,
    at,
    starts,
    said,
    ...(request && { request }),
    unused: await Promise.all(errors.filter(isPaid).map((error) => unusedRequest(error, n, surroundings))),
    ...(thought && {
      thought: {
        at: new Date(thought.timestamp),
        content: thought.content,
        ...(reasoning !== '' && { reasoning }),
        seq: thought.seq,
      },
    }),
    calls,
    errors,
    hooks,
    ...(snapshot && { snapshot }),
    modelMs: request?.durationMs,
    toolMs: calls.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0),
  }
}

async function requestIn(
  { n, thought }: Draft,
  { runDirectory, model, lastRecordOf }: StepSurroundings,
): Promise<SentRequest | undefined> {
  const ref = thought ? thought.llm_invocation_ref : lastRecordOf(n)
  if (thought === undefined && ref === undefined) return undefined
  const isPaidFor = thought !== undefined && isPaid(thought)
  const known = { n, ref, model: model ?? 'unknown', isPaid: isPaidFor }
  return sentRequest(runDirectory, thought ? { ...known, event: thought } : known)
}

/** A retry names no record: it sends the same request as the last attempt. */
function unusedRequest(
  event: ErrorEvent,
  n: number,
  { runDirectory, model, lastRecordOf }: StepSurroundings,
): Promise<SentRequest> {
  const { llm_invocation_ref: named } = Object(event.error_details) as { llm_invocation_ref?: unknown }
  const ref = typeof named === 'string' ? named : lastRecordOf(n)
  return sentRequest(runDirectory, { n, ref, event, model: model ?? 'unknown', isPaid: true })
}

function callIn(
  { requests, results, asked, hooks }: Draft,
  { action_id: actionId, name, arguments: raw }: ToolCallRecord,
  { runDirectory, childrenOf }: StepSurroundings,
): StepCall {
  const request = requests.get(actionId)
  const result = results.get(actionId)
  const question = asked.get(actionId)
  const override = hooks.findLast(
    (hook) => hook.action_id === actionId && hook.observation_override,
  )?.observation_override
  return {
    actionId,
    name,
    args: parsed(raw),
    argumentsText: raw,
    command: request?.resolved_command ?? null,
    argv: request?.sandbox?.argv ?? request?.argv ?? null,
    status: result?.status,
    exitCode: result?.exit_code ?? null,
    observation: result?.observation_content ?? '',
    ...(result?.parts && { parts: result.parts }),
    ...(override !== undefined && { override }),
    startedAt: request && new Date(request.timestamp),
    endedAt: result && new Date(result.timestamp),
    durationMs: result?.duration_ms ?? null,
    children: result ? childrenOf(result) : [],
    ...(question && { asked: question }),
    output: (stream, from = 0, bytes = PIECE_BYTES) =>
      readOutput(runDirectory, result?.execution_ref, { stream, from, bytes }),
    outputBytes: (stream) => outputBytes(runDirectory, result?.execution_ref, stream),
  }
}

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    return raw
  }
}

const PIECE_BYTES = 64 * 1024
