import { costOf, isKnownEvent, type StoredEvent } from '@delta/trace/internal'
import type { Column, Tokens } from './api.js'

/** Where the time of each step went and what it cost, added up event by event. */
export interface ColumnFold {
  add(event: StoredEvent): void
  /** At most 1,000, each of as many whole steps as the others. */
  columns(): Column[]
  /** The iterations in which something did not succeed, in order. */
  failed(): number[]
}

const MOST_COLUMNS = 1000

/** Begins with a run without events. */
export function columnFold(): ColumnFold {
  const steps: Column[] = []
  let lastAt: number | undefined
  /** Time before the step that it belongs to is known. */
  let pending = emptyTimes()
  let isWaiting = false

  function add(event: StoredEvent): void {
    if (!isKnownEvent(event)) return
    const at = Date.parse(event.timestamp)
    if (Number.isNaN(at)) return
    const ms = event.inherited ? 0 : Math.max(0, at - (lastAt ?? at))
    lastAt = at
    pending[kindOf(event, isWaiting)] += ms
    isWaiting = event.type === 'HUMAN_INPUT_REQUEST' || (isWaiting && event.type === 'ENGINE_END')
    const { iteration } = event as { iteration?: number }
    if (!iteration) return
    const step = stepAt(iteration, at)
    for (const kind of KINDS) step[kind] += pending[kind]
    pending = emptyTimes()
    step.endAt = Math.max(step.endAt, at)
    addTo(step, event)
  }

  function stepAt(n: number, at: number): Column {
    const last = steps.at(-1)
    if (last && n <= last.to) return last
    const step = {
      from: n,
      to: n,
      endAt: at,
      ...emptyTimes(),
      isFailed: false,
      cost: null,
      tokens: noTokens(),
    }
    steps.push(step)
    return step
  }

  function columns(): Column[] {
    const each = Math.ceil(steps.length / MOST_COLUMNS)
    if (each <= 1) return steps
    const starts = Array.from({ length: Math.ceil(steps.length / each) }, (_, index) => index * each)
    return starts.map((start) => steps.slice(start, start + each).reduce(joined))
  }

  return { add, columns, failed: () => steps.filter(({ isFailed }) => isFailed).map(({ from }) => from) }
}

const KINDS = ['modelMs', 'toolMs', 'waitingMs', 'pauseMs'] as const
type Times = Pick<Column, (typeof KINDS)[number]>

function emptyTimes(): Times {
  return { modelMs: 0, toolMs: 0, waitingMs: 0, pauseMs: 0 }
}

function noTokens(): Tokens {
  return { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 }
}

type KnownEvent = Extract<StoredEvent, { type: 'THOUGHT' | 'ERROR' | 'ENGINE_START' | 'ACTION_RESULT' }>

/** What the run did until this event came. */
function kindOf({ type }: StoredEvent, isWaiting: boolean): keyof Times {
  switch (type as KnownEvent['type'] | 'HUMAN_INPUT_RECEIVED') {
    case 'THOUGHT':
    case 'ERROR':
      return 'modelMs'
    case 'HUMAN_INPUT_RECEIVED':
      return 'waitingMs'
    case 'ENGINE_START':
      return isWaiting ? 'waitingMs' : 'pauseMs'
    default:
      return 'toolMs'
  }
}

function addTo(step: Column, event: StoredEvent): void {
  const known = event as KnownEvent
  if (known.type === 'ACTION_RESULT') step.isFailed ||= known.status !== 'SUCCESS'
  if (known.type === 'ERROR') step.isFailed = true
  if (known.type !== 'THOUGHT' && known.type !== 'ERROR') return
  if (known.inherited || known.replayed) {
    step.cost ??= 0
    return
  }
  const { tokens, price } = known
  if (!tokens) {
    if (price && costOf(ONE_OF_EACH, price) === 0) step.cost ??= 0 // the model is free
    return
  }
  for (const bucket of Object.keys(step.tokens) as (keyof Tokens)[]) step.tokens[bucket] += tokens[bucket]
  if (price) step.cost = (step.cost ?? 0) + costOf(tokens, price)
}

const ONE_OF_EACH: Tokens = { input: 1, cache_read: 1, cache_write: 1, output: 1, reasoning: 1 }

function joined(one: Column, other: Column): Column {
  const tokens = noTokens()
  for (const bucket of Object.keys(tokens) as (keyof Tokens)[])
    tokens[bucket] = one.tokens[bucket] + other.tokens[bucket]
  const times = emptyTimes()
  for (const kind of KINDS) times[kind] = one[kind] + other[kind]
  return {
    from: one.from,
    to: other.to,
    endAt: Math.max(one.endAt, other.endAt),
    ...times,
    isFailed: one.isFailed || other.isFailed,
    cost: one.cost === null && other.cost === null ? null : (one.cost ?? 0) + (other.cost ?? 0),
    tokens,
  }
}
