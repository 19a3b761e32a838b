import { basename } from 'node:path'
import { JournalError } from './errors.js'
import {
  type ContentPart,
  type EngineEnd,
  type EngineStart,
  type ErrorEvent,
  type HumanInputRequest,
  isInherited,
  isKnownEvent,
  type JournalEvent,
  type RunStatus,
  type StoredEvent,
  type Thought,
} from './events.js'
import { watchAnswers } from './lost-answers.js'
import { journalPath } from './run-paths.js'
import { addUp, type Totals } from './totals.js'

/** Tokens as the provider counted them, added up over a run. */
export interface RunUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

/** A call of the last THOUGHT that has no result yet. */
export interface PendingCall {
  /** Made by the engine, and unique in the run: by it the later events name the call. */
  action_id: string
  /** The provider's, which may come again in a later response. */
  id: string
  name: string
  /** The raw string the model sent. */
  arguments: string
  /** The iteration of its THOUGHT, from 1. */
  iteration: number
  /** True when it may have been started: there is an ACTION_REQUEST. */
  requested: boolean
  /** How many ACTION_REQUESTs there are. */
  attempts: number
}

/** The process that holds a run, unless it was released. */
export interface Owner {
  pid: number
  /** The machine it runs on. */
  host: string
  /** False when it is gone. One that cannot be seen from here (another machine, a container) is gone after half a minute of silence. */
  alive: boolean
}

/** `metadata.json`: a cache of the journal, for people and for `jq`. A status of `EMPTY` is never written to disk. */
export interface RunMetadata {
  /** The name of its directory when it began. */
  run_id: string
  /** The name of its workspace. Null, here and below, where the journal does not say. */
  workspace_id: string | null
  agent_name: string | null
  /** `INTERRUPTED` also when its owner is gone without a word. `EMPTY`: it has no first message. */
  status: RunStatus | 'EMPTY'
  /** Time of its first event, for a fork that of the fork: ISO 8601, UTC. */
  created_at: string | null
  /** Time of the last event. */
  updated_at: string | null
  /** Null while the run goes on or waits for input. */
  end_time: string | null
  /** The task. */
  initial_message: string | null
  /** The highest that has a THOUGHT; 0 when none has. */
  iterations: number
  /** How many iterations may follow a message before the run fails; the last start says it. */
  max_iterations: number | null
  /** Why, when the status is FAILED. */
  error: string | null
  /** How the run ended, for programs: of its ENGINE_END; `killed` when it has none and no process writes it. */
  reason_code: string | null
  /** Absolute, as of the first start; so is `work_dir`. */
  agent_home: string | null
  work_dir: string | null
  /** The run whose tool this agent is. */
  parent_run: string | null
  usage: RunUsage
  /** What the run and its sub-agents have cost so far. */
  totals: Totals
  /** The last engine's, alive or not. */
  pid: number | null
  /** The machine of the last engine. */
  host: string | null
}

/** What the next engine needs of the events before it. */
export interface RunHistory {
  /** Every id that a call of the run has. */
  actionIds: ReadonlySet<string>
  /** The calls that asked for a sensitive answer, also for one that was erased. */
  sensitiveCalls: ReadonlySet<string>
  /** The text of each USER_MESSAGE, the task first. */
  userMessages: readonly string[]
  /** The last request whose tokens the provider counted, and its bytes. */
  lastCount: { tokens: number; bytes: number } | undefined
}

/** What a run's journal and lease say about it. */
export interface RunSummary {
  /** The name of its directory. */
  runId: string
  /** Its path. */
  directory: string
  status: RunMetadata['status']
  metadata: RunMetadata
  /** The model of its last start, or the provider of an agent that names no model; null where the journal does not say. */
  model: string | null
  /** What its last start set in the agent, as `path=value`. */
  overrides: string[]
  /** `limits` of the agent at its last start, as `ENGINE_START.config` has them. */
  limits?: object
  /** Calls of the last THOUGHT without a result, in call order. */
  pendingCalls: PendingCall[]
  /** The highest iteration that has a THOUGHT; 0 when none has. */
  lastIteration: number
  /** How many iterations had a THOUGHT since the user last spoke. */
  iterationsSinceMessage: number
  usage: RunUsage
  /** What it and its sub-agents have cost so far. */
  totals: Totals
  /** Absent after the lease was released. */
  owner?: Owner
  /** The question still open. */
  humanRequest?: HumanInputRequest
  /** The content of a last THOUGHT without calls, unless the user has spoken or the run was retried since. */
  answer?: string
  /** True when the last USER_MESSAGE follows the last THOUGHT. */
  userSpokeLast: boolean
  /** What a person allowed at the run's first start, or when they took it over. It holds for later starts, too. */
  allowed?: NonNullable<EngineStart['allowed']>
  /** The last THOUGHT. */
  lastThought?: Thought
  /** Where it came from, if it was not run here but made from a file of another format. It cannot go on. */
  imported?: NonNullable<EngineStart['imported']>
  /** What a replay takes from the record of its `parent`. It cannot go on. */
  replay?: NonNullable<EngineStart['replay']>
  /** The run of which it is a fork or a replay. */
  parent?: NonNullable<EngineStart['parent']>
  /** The ERROR with which the run failed, if its engine was killed before the ENGINE_END and the user has not spoken since. */
  failure?: ErrorEvent
  /** Why the journal could not be read to its end, or is without its beginning. */
  problem?: JournalError
}

/** What a journal says about its run, gathered event by event. */
function emptyState() {
  return {
    /** Not inherited: a fork is a run of its own. */
    firstStart: undefined as EngineStart | undefined,
    lastStart: undefined as EngineStart | undefined,
    /** From the last start that has one. */
    allowed: undefined as EngineStart['allowed'],
    /** The highest number of an owner; 0 when none is recorded. */
    lastEpoch: 0,
    /** Set only while no ENGINE_START follows it. */
    end: undefined as EngineEnd | undefined,
    firstTimestamp: undefined as string | undefined,
    lastTimestamp: undefined as string | undefined,
    lastError: undefined as string | undefined,
    lastThought: undefined as Thought | undefined,
    /** How many ACTION_REQUESTs each call of the last THOUGHT has. */
    attempts: new Map<string, number>(),
    /** The calls of the last THOUGHT that have a result. */
    answered: new Set<string>(),
    /** True when a USER_MESSAGE came after the last THOUGHT. */
    messageSinceThought: false,
    /** True when the last THOUGHT was not used: the run was retried after it. */
    retriedSinceThought: false,
    /** The ERROR that ended the run, while neither an ENGINE_END nor a USER_MESSAGE nor a THOUGHT follows it. */
    failure: undefined as ErrorEvent | undefined,
    humanRequest: undefined as HumanInputRequest | undefined,
    lastIteration: 0,
    iterationsSinceMessage: 0,
    /** True while nothing but messages followed the last ENGINE_START. */
    justStarted: false,
    sums: addUp(),
    answers: watchAnswers(),
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    /** True when there is more than starts. */
    wentOn: false,
    actionIds: new Set<string>(),
    sensitiveCalls: new Set<string>(),
    userMessages: [] as string[],
    lastCount: undefined as RunHistory['lastCount'],
  }
}

type RunState = ReturnType<typeof emptyState>

/** What the events of a run add up to: `add` takes them in order; the rest may be asked at any time. */
export interface RunFold {
  add(event: StoredEvent): void
  /**
   * The answers that nobody has named, as the next engine will: of a run whose engine is gone without an ENGINE_END.
   *
   * @throws {JournalError} `ERR_JOURNAL_READ`
   */
  lostAnswers(directory: string): StoredEvent[]
  /** @param owner - As the lease says it. */
  summary(directory: string, owner: Owner | undefined): RunSummary
  readonly history: RunHistory
  /** How long engines have worked on the run, of which the last one still runs: without waiting for people, in a queue, or before another attempt. Milliseconds. */
  workedMs(now: number): number
  /** The highest number of an owner; 0 when none is recorded. */
  readonly lastEpoch: number
}

/** Folds the events of a run. An open run feeds its fold with the events that it finds and those that it appends. */
export function foldRun(): RunFold {
  const state = emptyState()

  function add(event: StoredEvent): void {
    const isOwn = !isInherited(event)
    if (isOwn) state.firstTimestamp ??= event.timestamp
    state.lastTimestamp = event.timestamp
    state.wentOn ||= isOwn && event.type !== 'ENGINE_START'
    if (!isKnownEvent(event)) return
    addKnown(event, state)
    state.answers.add(event)
    state.sums.add(event, modelIn(state.lastStart?.config))
  }

  function lostAnswers(directory: string): StoredEvent[] {
    const { end, firstStart, lastTimestamp: timestamp = '' } = state
    if (end !== undefined || firstStart === undefined) return []
    return state.answers.lostIn(directory).map((lost) => ({ ...lost, seq: 0, timestamp }))
  }

  return {
    add,
    lostAnswers,
    summary: (directory, owner) => summarize(directory, state, owner),
    history: state,
    workedMs: state.sums.workedMs,
    get lastEpoch() {
      return state.lastEpoch
    },
  }
}

function addKnown(event: JournalEvent, state: RunState): void {
  if (event.type !== 'USER_MESSAGE') state.justStarted = event.type === 'ENGINE_START'
  switch (event.type) {
    case 'ENGINE_START':
      addStart(event, state)
      break
    case 'ENGINE_END':
      state.end = event
      state.failure = undefined
      break
    case 'USER_MESSAGE':
      state.userMessages.push(wordsOf(event.content))
      state.messageSinceThought = true
      // one that was said to a running run keeps it alive no longer
      if (event.inbox_id === undefined || state.justStarted) state.iterationsSinceMessage = 0
      state.failure = undefined
      break
    case 'THOUGHT':
      addThought(event, state)
      break
    case 'ACTION_REQUEST':
      state.attempts.set(event.action_id, (state.attempts.get(event.action_id) ?? 0) + 1)
      break
    case 'ACTION_RESULT':
      state.answered.add(event.action_id)
      if (state.humanRequest?.action_id === event.action_id) state.humanRequest = undefined
      break
    case 'HUMAN_INPUT_REQUEST':
      state.humanRequest = event
      if (event.sensitive && event.action_id !== undefined) state.sensitiveCalls.add(event.action_id)
      break
    case 'HUMAN_INPUT_RECEIVED':
      state.humanRequest = undefined
      break
    case 'ERROR':
      state.lastError = event.error_message
      addUsage(event, state)
      if (event.recoverable === false) state.failure = event // else it was recovered from, and has ended nothing
      break
    case 'SYSTEM_MESSAGE':
    case 'SNAPSHOT':
    case 'HOOK_EXECUTION_AUDIT':
      break
    default:
      event satisfies never
  }
}

const LARGEST_EPOCH = 1e14

function addStart(event: EngineStart, state: RunState): void {
  if (!event.inherited) addOwnStart(event, state)
  state.lastStart = event
  state.end = undefined
  state.lastError = undefined
  if (event.retry) state.retriedSinceThought = true
}

/** What another run was, was allowed, and who wrote it says nothing of its fork. */
function addOwnStart(event: EngineStart, state: RunState): void {
  state.firstStart ??= event
  if (event.allowed) state.allowed = event.allowed
  const epoch = event.engine?.epoch ?? 0
  if (epoch < LARGEST_EPOCH) state.lastEpoch = Math.max(state.lastEpoch, epoch) // a higher one was put there by hand
}

function addThought(event: Thought, state: RunState): void {
  if (event.iteration !== state.lastThought?.iteration) state.iterationsSinceMessage += 1
  state.lastThought = event
  state.attempts.clear()
  state.answered.clear()
  state.messageSinceThought = false
  state.retriedSinceThought = false
  state.failure = undefined
  state.lastIteration = Math.max(state.lastIteration, event.iteration)
  for (const { action_id } of event.tool_calls) state.actionIds.add(action_id)
  const usage = addUsage(event, state)
  if (usage !== undefined && event.request_bytes !== undefined)
    state.lastCount = { tokens: usage.prompt_tokens, bytes: event.request_bytes }
}

/** What another run did, or a record, is not this run's. */
function addUsage(event: Thought | ErrorEvent, state: RunState): RunUsage | undefined {
  const usage = usageOf(event)
  if (usage === undefined || event.inherited || event.replayed) return usage
  for (const key of ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const)
    state.usage[key] += usage[key]
  return usage
}

/** Undefined when the provider did not count. Engines before 0.2 wrote the counts of a chat, and no `tokens`. */
function usageOf({ tokens, usage }: Thought | ErrorEvent): RunUsage | undefined {
  if (tokens) {
    const prompt_tokens = tokens.input + tokens.cache_read + tokens.cache_write
    const completion_tokens = tokens.output + tokens.reasoning
    return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
  }
  const count = (key: string): number | undefined => {
    const value = usage?.[key]
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined
  }
  const prompt_tokens = count('prompt_tokens')
  if (prompt_tokens === undefined) return undefined
  const completion_tokens = count('completion_tokens') ?? 0
  return { prompt_tokens, completion_tokens, total_tokens: count('total_tokens') ?? 0 }
}

function wordsOf(content: string | ContentPart[]): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

function summarize(directory: string, state: RunState, owner: Owner | undefined): RunSummary {
  const metadata = deriveMetadata(basename(directory), state, owner?.alive ?? false)
  const { lastThought, humanRequest, failure } = state
  const isUsed = !state.messageSinceThought && !state.retriedSinceThought
  const isLost = metadata.status === 'EMPTY' && state.wentOn
  const { limits } = Object(state.lastStart?.config) as { limits?: object }
  return {
    runId: basename(directory),
    directory,
    status: metadata.status,
    metadata,
    model: modelIn(state.lastStart?.config),
    overrides: [...(state.lastStart?.overrides ?? [])],
    ...(limits && { limits: Object(limits) }),
    pendingCalls: pendingCalls(state),
    lastIteration: state.lastIteration,
    iterationsSinceMessage: state.iterationsSinceMessage,
    usage: { ...state.usage },
    totals: metadata.totals,
    userSpokeLast: state.messageSinceThought,
    ...(owner && { owner }),
    ...(humanRequest && { humanRequest }),
    ...(lastThought?.tool_calls.length === 0 && isUsed && { answer: lastThought.content }),
    ...(state.allowed && { allowed: state.allowed }),
    ...(lastThought && { lastThought }),
    ...(failure && { failure }),
    ...(state.firstStart?.imported && { imported: state.firstStart.imported }),
    ...(state.firstStart?.replay && { replay: state.firstStart.replay }),
    ...(state.firstStart?.parent && { parent: state.firstStart.parent }),
    ...(isLost && { problem: missingStartError(directory) }),
  }
}

/** The calls of the last THOUGHT without a result, in call order. */
function pendingCalls({ lastThought, attempts, answered }: RunState): PendingCall[] {
  const { tool_calls = [], iteration = 0 } = lastThought ?? {}
  return tool_calls
    .filter(({ action_id }) => !answered.has(action_id))
    .map(({ action_id, id, name, arguments: raw }) => {
      const tried = attempts.get(action_id) ?? 0
      return { action_id, id, name, arguments: raw, iteration, requested: tried > 0, attempts: tried }
    })
}

/** Derives every field from the journal, and from the lease whether its owner lives. */
function deriveMetadata(runId: string, state: RunState, ownerAlive: boolean): RunMetadata {
  const { firstStart, lastStart, end } = state
  const status = deriveStatus(state, ownerAlive)
  const isOnlyMade = lastStart?.parent !== undefined && lastStart.replay === undefined // a fork that has not gone on
  return {
    run_id: firstStart?.run_id ?? runId,
    workspace_id: firstStart?.workspace_id ?? null,
    agent_name: firstStart?.agent_name ?? null,
    status,
    created_at: state.firstTimestamp ?? null,
    updated_at: state.lastTimestamp ?? null,
    end_time: status === 'WAITING_FOR_INPUT' ? null : (end?.timestamp ?? null),
    initial_message: state.userMessages[0] ?? firstStart?.task ?? null,
    iterations: state.lastIteration,
    max_iterations: lastStart?.max_iterations ?? null,
    error: status === 'FAILED' ? (end?.reason ?? state.lastError ?? null) : null,
    reason_code: end ? (end.reason_code ?? null) : status === 'INTERRUPTED' && !isOnlyMade ? 'killed' : null,
    agent_home: firstStart?.agent_home ?? null,
    work_dir: firstStart?.work_dir ?? null,
    parent_run: firstStart?.parent_run ?? null,
    usage: state.usage,
    totals: state.sums.totals(),
    pid: lastStart?.engine?.pid ?? null,
    host: lastStart?.engine?.hostname ?? null,
  }
}

/** A run without a first message was never announced, and nothing was started in it. */
function deriveStatus(state: RunState, ownerAlive: boolean): RunMetadata['status'] {
  const { firstStart, userMessages, lastThought, end } = state
  if (firstStart === undefined || (userMessages.length === 0 && lastThought === undefined)) return 'EMPTY'
  if (end) return end.status
  return ownerAlive ? 'RUNNING' : 'INTERRUPTED'
}

/** The configuration is the program's own; v1.1 called the model's part `llm_config`. */
function modelIn(config: unknown): string | null {
  const { llm, llm_config: old } = Object(config) as { llm?: unknown; llm_config?: unknown }
  const { model, model_name: oldName, provider } = Object(llm ?? old) as Record<string, unknown>
  return [model, oldName, provider].find((name) => typeof name === 'string') ?? null
}

/** The run began: its journal holds later events. */
function missingStartError(directory: string): JournalError {
  const path = journalPath(directory)
  return new JournalError(
    'ERR_JOURNAL_CORRUPT',
    `${path}: The beginning of this run is lost: its first events, which name the agent and its task, are not there, but later ones are.\n` +
      'A crash of ours does not do that, so something else wrote there. Put the lines back from a copy; without them the run cannot be continued.',
    { path, wayOut: 'start' },
  )
}
