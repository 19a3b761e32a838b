import {
  type EngineStart,
  type ErrorEvent,
  isKnownEvent,
  type StoredEvent,
  type Thought,
} from '@delta/journal/runs'
import { normaliseUsage, type Tokens } from '@delta/model'
import { providerAt } from '@delta/model/internal'
import type { PriceRow } from '@delta/model/prices'
import { vendorOfProvider } from '@delta/model/vendors'

/** How requests are priced that their journal does not price. */
export interface PriceOptions {
  /** Rows of the person's own: `first` count before those of the agent, `last` after them and before the shipped ones. */
  prices?: { first?: readonly PriceRow[] | undefined; last?: readonly PriceRow[] | undefined } | undefined
  /** True: also those that it prices. */
  reprice?: boolean | undefined
}

/** An answer of the model, used or not. */
export type PaidEvent = Thought | ErrorEvent

/** Tokens in disjoint buckets, as a journal keeps them. */
export type CountedTokens = NonNullable<Thought['tokens']>

/** True for an answer that this run paid for, or would have: not for one of another run, or of a record. */
export function isPaid(event: StoredEvent): event is PaidEvent {
  if (!isKnownEvent(event) || event.inherited || event.replayed) return false
  return event.type === 'THOUGHT' || (event.type === 'ERROR' && event.tokens !== undefined)
}

/** True when the journal leaves open what an answer cost: it is of an older engine, or of another program. */
export function lacksPrice(event: StoredEvent): boolean {
  return isPaid(event) && (event.price === undefined || (event.tokens === undefined && event.usage != null))
}

/** Returns a function that takes the events of a run in order, and completes what an answer used and cost. */
export async function completer({
  prices,
  reprice = false,
}: PriceOptions): Promise<(event: StoredEvent) => StoredEvent> {
  const { ratesFor } = await import('@delta/model/prices')
  let { model, provider, rows } = settingsOf(undefined)

  return (event) => {
    if (isKnownEvent(event) && event.type === 'ENGINE_START')
      ({ model, provider, rows } = settingsOf(event.config))
    if (!isPaid(event)) return event
    const tokens = (event.tokens ?? normaliseUsage(event.usage)) as Tokens | null
    const paidTo = event.provider === undefined ? provider : event.provider
    const own = [prices?.first, rows, prices?.last].filter((list) => list !== undefined)
    const isKnown = event.price !== undefined && !reprice
    const price = isKnown
      ? event.price
      : ratesFor({ models: [event.model, model], provider: paidTo, rows: own, tokens })
    return { ...event, tokens, provider: paidTo, price }
  }
}

interface Settings {
  model: string | undefined
  provider: string | null
  rows: readonly PriceRow[] | undefined
}

/** What the configuration of a run says of its model. Another program may have written it. */
function settingsOf(config: EngineStart['config']): Settings {
  const { llm, prices } = Object(config) as { llm?: unknown; prices?: unknown }
  const { model, provider, base_url: address } = Object(llm) as Record<string, unknown>
  const isFree = provider === 'script' || provider === 'replay'
  const url = typeof address === 'string' ? address : vendorOfProvider(provider).url
  return {
    model: typeof model === 'string' ? model : undefined,
    provider: isFree ? 'script' : provider === 'command' || url === undefined ? null : providerAt(url),
    rows: Array.isArray(prices) ? (prices as PriceRow[]) : undefined, // it was checked when the run began
  }
}
