import * as z from 'zod/mini'
import { isObject } from './event.js'
import type { ActionResult, ErrorEvent, JournalEvent, Thought } from './events.js'

/** Tokens in disjoint buckets, which add up to what is billed. */
export interface TokenSum {
  input: number
  cache_read: number
  cache_write: number
  output: number
  reasoning: number
}

/** What requests cost together. */
export interface Spending {
  requests: number
  /** How many of them the provider did not count. */
  unreported: number
  /** Tokens of those, estimated from their bytes; in no bucket. */
  estimated: number
  tokens: TokenSum
  /** US dollars, of the requests that have a price; null if none has one. */
  cost: number | null
  /** The share of tokens, counted or estimated, in requests that have a price: 0 to 1. */
  priced: number
}

/** What runs cost together. */
export interface RunSpending extends Spending {
  runs: number
}

/** What a run and its sub-agents cost, as its journal says it: `ENGINE_END.totals`. */
export interface Totals {
  own: RunSpending
  /** All runs below this one whose call has returned. */
  sub_agents: RunSpending
  /** Both. */
  all: RunSpending
  /** The same as `all`, by the model that answered. */
  by_model: Record<string, Spending>
  /** The date of the newest table that gave a price; null where none did. */
  prices: string | null
  /** How long an engine ran, without waiting for people. */
  duration_ms: number
  /** The part of it in a queue or before another attempt. */
  waited_ms: number
}

/** US dollars for a million tokens of each bucket. A missing one costs as `input`, `reasoning` as `output`. */
export type Rates = NonNullable<Thought['price']>

/**
 * What tokens cost at given rates, in US dollars.
 *
 * @example
 * costOf({ input: 100, cache_read: 800, cache_write: 0, output: 20, reasoning: 0 }, { input: 2, cache_read: 0.2, output: 10 }) // 0.00056
 */
export function costOf(tokens: TokenSum & { cache_write_1h?: number | undefined }, rates: Rates): number {
  const { input, output, cache_read = input, cache_write = input, cache_write_1h = 2 * input } = rates
  const { reasoning = output } = rates
  const forAnHour = Math.min(tokens.cache_write_1h ?? 0, tokens.cache_write)
  const sum =
    tokens.input * input +
    tokens.cache_read * cache_read +
    (tokens.cache_write - forAnHour) * cache_write +
    forAnHour * cache_write_1h +
    tokens.output * output +
    tokens.reasoning * reasoning
  return sum / 1e6
}

/** Sums up what a run costs, event by event. What another run did, or a record, costs this one nothing. */
export function addUp() {
  const ownByModel = new Map<string, Spending>()
  const children = new Map<string, z.infer<typeof totalsOfChild>>()
  const clock = startClock()
  let prices: string | null = null

  /** @param model - The one that the last start names, for an answer that names none. */
  function add(event: JournalEvent, model: string | null): void {
    if (event.inherited) return
    clock.add(event)
    if (event.type === 'ACTION_RESULT') addChildren(event)
    if (event.replayed || !isPaid(event)) return
    const { date } = Object(event.price) as { date?: unknown }
    if (typeof date === 'string' && (prices ?? '') < date) prices = date
    const name = event.model ?? model ?? 'unknown'
    ownByModel.set(name, plus(ownByModel.get(name) ?? NOTHING, spendingOf(event)))
  }

  function addChildren({ child_runs = [] }: ActionResult): void {
    for (const { directory, totals } of child_runs) {
      const said = totalsOfChild.safeParse(totals) // a tool may have written it
      if (said.success) children.set(directory, said.data)
    }
  }

  function totals(): Totals {
    const own = { runs: 1, ...addSpending([...ownByModel.values()]) }
    const below = [...children.values()].map(({ all }) => all)
    const runs = below.reduce((count, each) => count + each.runs, 0)
    const sub_agents = { runs, ...addSpending(below) }
    const byModel = new Map(ownByModel)
    for (const child of children.values())
      for (const [name, spending] of child.by_model)
        byModel.set(name, plus(byModel.get(name) ?? NOTHING, spending))
    return {
      own,
      sub_agents,
      all: { runs: 1 + runs, ...plus(own, sub_agents) },
      by_model: Object.fromEntries(byModel),
      prices,
      duration_ms: clock.elapsedMs(),
      waited_ms: clock.waitedMs(),
    }
  }

  return { add, totals, workedMs: clock.workedMs }
}

/** An answer of a model, used or not; an `ERROR` without `tokens` tells of no answer. */
function isPaid(event: JournalEvent): event is Thought | ErrorEvent {
  return event.type === 'THOUGHT' || (event.type === 'ERROR' && event.tokens !== undefined)
}

const NO_TOKENS: TokenSum = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 }
const NOTHING: Spending = {
  requests: 0,
  unreported: 0,
  estimated: 0,
  tokens: NO_TOKENS,
  cost: null,
  priced: 0,
}

function spendingOf(event: Thought | ErrorEvent): Spending {
  const { tokens, price } = event
  if (!tokens) {
    const isFree = price
      ? Object.values(price).every((rate) => typeof rate !== 'number' || rate === 0)
      : false
    const cost = isFree ? { cost: 0, priced: 1 } : {}
    return { ...NOTHING, requests: 1, unreported: 1, estimated: estimateOf(event), ...cost }
  }
  const { input, cache_read, cache_write, output, reasoning } = tokens
  return {
    ...NOTHING,
    requests: 1,
    tokens: { input, cache_read, cache_write, output, reasoning },
    ...(price && { cost: costOf(tokens, price), priced: 1 }),
  }
}

const USUAL_BYTES_PER_TOKEN = 4

/** Tokens of an answer that the provider did not count, with its request. */
function estimateOf(event: Thought | ErrorEvent): number {
  const { request_bytes = 0 } = event
  const content = event.type === 'THOUGHT' ? event.content : ''
  const bytes = request_bytes + Buffer.byteLength(content)
  return Math.max(1, Math.ceil(bytes / USUAL_BYTES_PER_TOKEN)) // where nothing is known, it must lower `priced`, too
}

/** What all of these cost together. */
export function addSpending(all: readonly Spending[]): Spending {
  return all.reduce(plus, NOTHING)
}

/** Adds up field by field; `priced` is weighed by the tokens of each. */
function plus(one: Spending, other: Spending): Spending {
  const tokens = { ...NO_TOKENS }
  for (const bucket of Object.keys(tokens) as (keyof TokenSum)[])
    tokens[bucket] = one.tokens[bucket] + other.tokens[bucket]
  const [weight, otherWeight] = [weightOf(one), weightOf(other)]
  const pricedWeight = one.priced * weight + other.priced * otherWeight
  const priced = pricedWeight / (weight + otherWeight)
  return {
    requests: one.requests + other.requests,
    unreported: one.unreported + other.unreported,
    estimated: one.estimated + other.estimated,
    tokens,
    cost: one.cost === null && other.cost === null ? null : (one.cost ?? 0) + (other.cost ?? 0),
    priced: Number.isNaN(priced) ? Math.max(one.priced, other.priced) : priced, // without a token nothing weighs
  }
}

/** Tokens, counted or estimated. */
function weightOf({ tokens, estimated }: Pick<Spending, 'tokens' | 'estimated'>): number {
  return Object.values(tokens).reduce((total, count) => total + count, estimated)
}

/** What a run cost without its sub-agents, from `totals` that anybody may have written. Undefined if they are not valid. */
export function ownSpendingIn(totals: unknown): RunSpending | undefined {
  return totalsOfChild.safeParse(totals).data?.own
}

const amount = z.number().check(z.minimum(0))
const spending = z.object({
  requests: amount,
  unreported: amount,
  estimated: amount,
  tokens: z.object({
    input: amount,
    cache_read: amount,
    cache_write: amount,
    output: amount,
    reasoning: amount,
  }),
  cost: z.nullable(amount),
  priced: amount,
})
/** What is counted of the totals of a sub-agent. */
const totalsOfChild = z.object({
  own: z.extend(spending, { runs: amount }),
  all: z.extend(spending, { runs: amount }),
  /** As pairs: a record of zod drops the name `__proto__`. */
  by_model: z.pipe(
    z.transform((value) => (isObject(value) ? Object.entries(value) : undefined)),
    z.array(z.tuple([z.string(), spending])),
  ),
})

/**
 * Measures by the events' own times how long engines ran: each from its start to its last event, less its questions. Of that,
 * the part that requests were held back, or waited for another attempt.
 */
function startClock() {
  let before = 0
  let start: number | undefined
  let last = 0
  let askedAt: number | undefined
  let asked = 0
  let waited = 0
  let backOff: { since: number; delayMs: number } | undefined

  function add(event: JournalEvent): void {
    const now = Date.parse(event.timestamp)
    if (Number.isNaN(now)) return
    if (event.type === 'ENGINE_START') {
      before = elapsedMs()
      start = now
      askedAt = askedAt === undefined ? undefined : now // a question that is open is asked again
      asked = 0
      backOff = undefined // the engine that waited was killed
    }
    if (askedAt !== undefined && ANSWERS.has(event.type)) {
      asked += now - askedAt
      askedAt = undefined
    }
    if (event.type === 'HUMAN_INPUT_REQUEST') askedAt = now
    if (backOff && event.type === 'HOOK_EXECUTION_AUDIT')
      backOff.since = now // `on_error` runs before the wait
    else if (backOff) {
      waited += backedOffMs(now)
      backOff = undefined
    }
    if (event.type === 'SNAPSHOT' || (!event.replayed && isPaid(event))) waited += event.waited_ms ?? 0
    const delayMs = delayIn(event)
    if (delayMs !== undefined) backOff = { since: now, delayMs }
    last = now
  }

  function elapsedMs(now = last): number {
    return start === undefined ? before : before + Math.max(0, (askedAt ?? now) - start - asked)
  }

  function backedOffMs(now: number): number {
    return backOff ? Math.min(backOff.delayMs, Math.max(0, now - backOff.since)) : 0
  }

  /** How long engines have worked until now, of which the last one still runs. */
  function workedMs(now: number): number {
    return elapsedMs(now) - waited - backedOffMs(now)
  }

  return { add, elapsedMs, waitedMs: () => waited, workedMs }
}

const ANSWERS = new Set(['HUMAN_INPUT_RECEIVED', 'ACTION_RESULT'])

/** How long a failed attempt is followed by nothing. */
function delayIn(event: JournalEvent): number | undefined {
  if (event.type !== 'ERROR' || !event.recoverable) return undefined
  const { delay_ms: delay } = Object(event.error_details) as { delay_ms?: unknown }
  return typeof delay === 'number' ? delay : undefined
}
