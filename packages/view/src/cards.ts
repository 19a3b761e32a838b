import type { Step, StepCall } from '@delta/trace'
import {
  type ContentPart,
  changedValues,
  type EngineStart,
  type ErrorEvent,
  isKnownEvent,
  type StepReader,
  type StoredEvent,
} from '@delta/trace/internal'
import type {
  CallCard,
  CallStatus,
  ChildCard,
  ErrorCard,
  Media,
  Question,
  RequestCard,
  RunRow,
  SaidCard,
  StartCard,
  StepCard,
  Text,
} from './api.js'

/** What a card needs besides its step. */
export interface CardOptions {
  /** The step before it, whose model and API are compared with its own. */
  before?: Step | undefined
  /** Path of the routes of the run. */
  path: string
  reader: StepReader
  /** The row of a run that a call started, if it is shown. */
  rowAt(directory: string): RunRow | undefined
  /** True: texts are not cut. */
  isWhole?: boolean
}

const CARD_BYTES = 4096
const LINE_CHARACTERS = 500
const FIRST_LINES = 6
const LAST_LINES = 4

/** A step as the page shows it. */
export async function cardOf(step: Step, options: CardOptions): Promise<StepCard> {
  const cut = options.isWhole ? whole : beginning
  const { n, at, inherited, replayed, thought, calls, errors, hooks, snapshot } = step
  const request = requestCard(step, options.before)
  const starts: StartCard[] = []
  for (const start of step.starts) starts.push(await startCard(start, options.reader))
  const isFailed =
    errors.length > 0 || calls.some(({ status }) => status !== undefined && status !== 'SUCCESS')
  return {
    n,
    at: timeOf(at) ?? 0,
    inherited,
    replayed,
    starts,
    said: step.said.map((said): SaidCard => {
      const { role, seq } = said
      const media = mediaIn(said.parts, options)
      return { at: timeOf(said.at) ?? 0, role, text: cut(said.text), media, inherited: said.inherited, seq }
    }),
    ...(request && { request }),
    ...(thought?.reasoning !== undefined && { reasoning: cut(thought.reasoning) }),
    ...(thought && { thought: cut(thought.content) }),
    thoughtAt: thought === undefined ? null : timeOf(thought.at),
    isAnswer: thought !== undefined && calls.length === 0,
    calls: calls.map((call) => callCard(call, options, cut)),
    errors: errors.map((error) => errorCard(error, step)),
    hooks: hooks.map(({ hook_name, status, duration_ms, action_id, error_message }) => ({
      name: hook_name,
      status,
      durationMs: duration_ms ?? null,
      actionId: action_id ?? null,
      message: error_message ?? null,
    })),
    ...(snapshot && {
      snapshot: {
        isTaken: snapshot.snapshot_id !== null,
        message: snapshot.message ?? snapshot.reason ?? null,
        isChanged: calls.length > 0 && isOther(snapshot, options.before?.snapshot),
        omitted: snapshot.omitted_count ?? snapshot.omitted?.length ?? 0,
      },
    }),
    modelMs: step.modelMs ?? null,
    toolMs: step.toolMs,
    isFailed,
  }
}

/** An engine's first snapshot counts all files as changed; those who record it say whether they are the same as before. */
function isOther(snapshot: NonNullable<Step['snapshot']>, before: Step['snapshot']): boolean {
  const [now, old] = [snapshot.files_id, before?.files_id]
  return now == null || old == null ? snapshot.changed !== 0 : now !== old
}

/** A text, cut between two characters. */
export function beginning(text: string, most = CARD_BYTES): Text {
  const bytes = Buffer.byteLength(text)
  if (bytes <= most) return { text, bytes }
  return {
    text: Buffer.from(text)
      .subarray(0, most)
      .toString()
      .replace(/\uFFFD$/, ''),
    bytes,
  }
}

function whole(text: string): Text {
  return { text, bytes: Buffer.byteLength(text) }
}

function requestCard({ request }: Step, before: Step | undefined): RequestCard | undefined {
  if (request === undefined) return undefined
  const { at, model, provider, api, tokens, estimate, cost, finishReason, bytes } = request
  const earlier = before?.request
  const changedFrom = {
    ...(earlier && earlier.model !== model && { model: earlier.model }),
    ...(earlier?.api !== undefined && api !== undefined && earlier.api !== api && { api: earlier.api }),
  }
  return {
    at: at === undefined ? null : timeOf(at),
    model,
    provider,
    api: api ?? null,
    ...(Object.keys(changedFrom).length > 0 && { changedFrom }),
    tokens,
    estimate,
    cost,
    finishReason: finishReason ?? null,
    bytes,
  }
}

/** What an engine found when it took the run: it is told from the start and the event before it. */
async function startCard(start: EngineStart, reader: StepReader): Promise<StartCard> {
  const { engine, resumed = false, retry = false, timestamp } = start
  const card: StartCard = {
    at: Date.parse(timestamp),
    engine: engine?.epoch ?? null,
    isResumed: resumed,
    isRetry: retry,
    pauseMs: null,
    after: null,
    origin: originOf(start),
    changes: [],
    version: engine?.version ?? null,
    host: engine?.hostname ?? null,
  }
  if (!resumed) return card
  const [earlier, before] = await reader.beforeStart(start.seq)
  const files = (start.changed_files ?? []).map((file) => `${file} changed`)
  if (card.origin !== null) return { ...card, isResumed: false }
  if (before && isOfFork(before)) return { ...card, isResumed: false, changes: files } // it was made, and now begins
  return {
    ...card,
    pauseMs: before ? Math.max(0, card.at - Date.parse(before.timestamp)) : null,
    after: before ? endInWords(before) : null,
    changes: [...files, ...(earlier ? settingsChanged(earlier, start) : [])],
  }
}

function originOf({ parent, replay }: EngineStart): string | null {
  if (parent === undefined) return null
  const name = parent.run_id.split('_').at(-1) ?? parent.run_id
  if (replay) return `a replay of ${name}: model ${replay.model}, tools ${replay.tools}`
  return `forked from ${name} after step ${parent.iteration}`
}

function isOfFork(event: StoredEvent): boolean {
  return isKnownEvent(event) && event.type === 'ENGINE_START' && event.parent !== undefined
}

function endInWords(event: StoredEvent): string {
  if (!isKnownEvent(event) || event.type !== 'ENGINE_END') return 'after a kill'
  if (event.status === 'WAITING_FOR_INPUT') return 'after waiting for a person'
  if (event.status === 'INTERRUPTED')
    return `after it was interrupted${event.reason ? `: ${event.reason}` : ''}`
  return event.status === 'FAILED'
    ? `after it had failed (${event.reason_code ?? 'failed'})`
    : 'after it had ended'
}

const MOST_CHANGES = 12

/** The environment of a run is a fact, not a setting; what the definitions of tools became is in their file. */
function settingsChanged(earlier: StoredEvent, start: EngineStart): string[] {
  const settings = (event: StoredEvent) => {
    const { environment: _, tools: __, ...rest } = Object(Object(event).config) as Record<string, unknown>
    return rest
  }
  const changes = changedValues(settings(earlier), settings(start), (text) => text)
  return changes
    .slice(0, MOST_CHANGES)
    .map(({ path, left, right }) => `${path} ${left ?? '-'} → ${right ?? '-'}`)
}

function callCard(call: StepCall, options: CardOptions, cut: (text: string) => Text): CallCard {
  const { actionId, name, command, exitCode, durationMs, asked, override, observation, parts } = call
  const status = statusOf(call)
  return {
    actionId,
    tool: name,
    arguments: cut(argumentsInWords(call)),
    command: command === null ? null : cut(command),
    status,
    statusWords: statusInWords(call, status),
    exitCode,
    startedAt: timeOf(call.startedAt),
    endedAt: timeOf(call.endedAt),
    durationMs,
    output: linesOf(override ?? observation),
    isOverridden: override !== undefined,
    media: mediaIn(parts, options),
    ...(asked && { asked: questionOf(asked.request, asked.answer) }),
    children: call.children.map((child) => childCard(child, options.rowAt(child.directory))),
  }
}

/** The command line of a shell tool, which is its only argument; else the arguments as they were sent. */
function argumentsInWords({ args, argumentsText }: StepCall): string {
  const values: unknown[] = args === Object(args) ? Object.values(Object(args)) : []
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : argumentsText
}

function statusOf({ status, startedAt }: StepCall): CallStatus {
  if (status === undefined) return startedAt === undefined ? 'pending' : 'running'
  return status.toLowerCase() as CallStatus
}

function statusInWords(call: StepCall, status: CallStatus): string | null {
  const { durationMs, observation, argv } = call
  const [line = ''] = observation.split('\n', 1)
  const why = line.slice(0, LINE_CHARACTERS)
  switch (status) {
    case 'pending':
      return 'not started'
    case 'running':
      return 'running'
    case 'blocked':
      return `blocked: ${why}`
    case 'error':
      return `${argv === null ? 'refused' : 'error'}: ${why}`
    case 'timeout':
      return `timed out${durationMs === null ? '' : ` after ${seconds(durationMs)}`}`
    case 'interrupted':
      return 'interrupted'
    default:
      return null
  }
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
}

function linesOf(text: string): CallCard['output'] {
  const bytes = Buffer.byteLength(text)
  const lines = text.replace(/\n$/, '').split('\n')
  const all = lines.length === 1 && lines[0] === '' ? [] : lines
  const isShort = all.length <= FIRST_LINES + LAST_LINES
  const first = all.slice(0, isShort ? all.length : FIRST_LINES).map(shortened)
  const last = isShort ? [] : all.slice(-LAST_LINES).map(shortened)
  return { first, last, omittedLines: all.length - first.length - last.length, bytes }
}

function shortened(line: string): string {
  return line.length <= LINE_CHARACTERS ? line : `${line.slice(0, LINE_CHARACTERS)}…`
}

/** A question to a person as the page shows it. */
export function questionOf(
  request: NonNullable<StepCall['asked']>['request'],
  answer?: NonNullable<StepCall['asked']>['answer'],
): Question {
  const { timestamp, prompt, argv, reasons = [], request_id } = request
  return {
    at: Date.parse(timestamp),
    kind: argv === undefined ? 'question' : 'approval',
    prompt,
    ...(argv && { argv }),
    reasons,
    requestId: request_id ?? null,
    ...(answer && { answer: { at: Date.parse(answer.timestamp), text: answer.response } }),
  }
}

/** A run that a call started: as it stands now if it is shown, else as its caller recorded it. */
export function childCard(child: StepCall['children'][number], row: RunRow | undefined): ChildCard {
  const { actionId, runId, status, reasonCode, totals, isGone } = child
  const recorded = totals?.all
  const tokens =
    recorded && Object.values(recorded.tokens).reduce((sum, count) => sum + count, recorded.estimated)
  const wentOn = row !== undefined && recorded !== undefined && row.tokens > (tokens ?? 0)
  return {
    actionId,
    runId,
    ...(row && { key: row.key }),
    agent: row?.agent ?? null,
    status: row?.status ?? status,
    reasonCode: row ? row.reasonCode : reasonCode,
    steps: row?.steps ?? null,
    cost: row ? row.cost : (recorded?.cost ?? null),
    tokens: row ? row.tokens : (tokens ?? null),
    wallMs: row?.wallMs ?? totals?.duration_ms ?? null,
    isGone: isGone || row?.status === 'GONE',
    wentOn,
  }
}

function errorCard(error: ErrorEvent, { unused }: Step): ErrorCard {
  const { timestamp, error_message: message, recoverable = false, error_details, tokens } = error
  const { attempt, delay_ms, status } = Object(error_details) as Record<string, unknown>
  const cost =
    tokens === undefined ? null : (unused.find((request) => request.tokens === tokens)?.cost ?? null)
  return {
    at: Date.parse(timestamp),
    message: message.slice(0, CARD_BYTES),
    isRecoverable: recoverable,
    ...(typeof attempt === 'number' && {
      retry: { attempt, waitedMs: numberOr(delay_ms), status: numberOr(status) },
    }),
    cost,
  }
}

function numberOr(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** What a browser shows as an image and nothing else. */
export const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
export const LARGEST_IMAGE_BYTES = 5_000_000

function mediaIn(parts: readonly ContentPart[] | undefined, { path }: CardOptions): Media[] {
  return (parts ?? []).flatMap((part): Media[] => {
    if (part.type === 'text') return []
    const { type, media_type: mediaType, bytes, name, width, height, blob } = part
    const isShown = IMAGE_TYPES.includes(mediaType) && bytes <= LARGEST_IMAGE_BYTES
    return [
      {
        type,
        mediaType,
        bytes,
        ...(name !== undefined && { name }),
        ...(width !== undefined && { width }),
        ...(height !== undefined && { height }),
        ...(isShown && { path: `${path}/images/${encodeURIComponent(blob)}` }),
      },
    ]
  })
}

function timeOf(date: Date | undefined): number | null {
  const time = date?.getTime() ?? Number.NaN
  return Number.isNaN(time) ? null : time
}
