import { costOf } from '@delta/journal/internal'
import type { Rates } from '@delta/journal/runs'
import { type CacheBreak, findCacheBreak } from './cache-break.js'
import type { CountedTokens } from './prices.js'
import { recordedParts } from './recorded-parts.js'
import type { SentRequest } from './sent-request.js'
import { inputTokens } from './shares.js'
import type { Trace } from './trace.js'

/** A request that a provider's cache could have answered for the most part, and did not. */
export interface CacheMiss {
  /** The iteration. */
  n: number
  /** What changed; undefined if nothing did: the provider had dropped what it kept. */
  broken?: CacheBreak
  /**
   * Tokens behind the change that were billed in full, or written into the cache. What the request had that the one before had not is
   * among them; where nothing changed, it is not.
   */
  tokens: number
  /** What these cost. US dollars; null without a price. */
  cost: number | null
  /** All this in sentences. */
  message: string
}

/**
 * The requests of a run that the provider's cache did not serve, in order: each with the source that broke the prefix, or the
 * time that passed.
 */
export async function* cacheMisses(trace: Trace): AsyncGenerator<CacheMiss> {
  const parts = recordedParts(trace.run.directory)
  let before: SentRequest | undefined
  for await (const { n, request, inherited } of trace.steps()) {
    if (request === undefined) continue
    if (before && !inherited) {
      const broken = await breakBetween(before, request)
      const miss = broken ? changed(n, request, broken) : expired(n, before, request)
      if (miss && miss.tokens > 0) yield miss
    }
    before = request
  }

  /** Most requests continue the one before: then the same lines of the record are their beginning. */
  async function breakBetween(one: SentRequest, other: SentRequest): Promise<CacheBreak | undefined> {
    const [lines, next] = [parts.linesOf(one), parts.linesOf(other)]
    if (!lines || !next) return undefined
    const isContinued =
      lines.parameters === next.parameters &&
      lines.messages.every((line, index) => line === next.messages[index])
    if (isContinued) return undefined
    const [sent, sending] = [parts.bodyOf(one), parts.bodyOf(other)]
    return sent && sending && findCacheBreak(sent, sending)
  }
}

function changed(n: number, request: SentRequest, broken: CacheBreak): CacheMiss {
  const { source, byte, behind, advice } = broken
  const { tokens, cost } = lostAfter(request, broken.tokensAfter)
  const price = cost ? ` and cost ${dollars(cost)}` : ''
  const isExact = request.tokens !== null
  const what =
    behind === undefined
      ? `\`${source}\` changed at byte ${byte}. ${isExact ? 'The' : 'About'} ${grouped(tokens)} tokens after it`
      : `\`${source}\` stands behind \`${behind}\`, which grew. ${isExact ? 'Its' : 'About'} ${grouped(tokens)} tokens`
  return { n, broken, tokens, cost, message: `step ${n}: ${what} were not cached${price}. ${advice}` }
}

/**
 * How many of the last tokens of a request did not come from the cache, and what these cost.
 *
 * @param estimated - How many tokens stand behind the difference, as the context estimated them.
 */
function lostAfter(
  { tokens, price, estimate }: SentRequest,
  estimated: number,
): { tokens: number; cost: number | null } {
  if (tokens === null) return { tokens: estimated, cost: null }
  const all = inputTokens(tokens)
  const lost = Math.min(freshIn(tokens), Math.round(estimate === 0 ? 0 : (estimated * all) / estimate))
  return { tokens: lost, cost: price && costOfLost(lost, tokens, price) }
}

/** Tokens that did not come from the cache. */
function freshIn(tokens: CountedTokens): number {
  return tokens.input + tokens.cache_write
}

/** What some of the fresh tokens cost, at the average of all of them. US dollars. */
function costOfLost(lost: number, tokens: CountedTokens, price: Rates): number {
  const cost = costOf({ ...tokens, cache_read: 0, output: 0, reasoning: 0 }, price)
  return lost === 0 ? 0 : (cost * lost) / freshIn(tokens)
}

/** How long vendors keep a prefix that no request uses, by default. */
const KEPT_MS = 5 * 60_000

function expired(n: number, before: SentRequest, request: SentRequest): CacheMiss | undefined {
  const { tokens, price } = request
  if (!tokens || !before.tokens || before.model !== request.model) return undefined
  const kept = before.tokens.cache_read + before.tokens.cache_write
  if (kept === 0 || tokens.cache_read >= kept / 2) return undefined
  const lost = Math.min(kept - tokens.cache_read, freshIn(tokens))
  const passedMs = before.at && request.at ? request.at.getTime() - before.at.getTime() : 0
  const minutes = Math.floor(passedMs / 60_000)
  const why =
    passedMs >= KEPT_MS
      ? ` Step ${before.n} was ${minutes} minutes earlier: the cache entry had probably expired.`
      : ' The provider did not keep it, or sent the request to another server.'
  const message = `step ${n}: the prefix did not change, but ${grouped(tokens.cache_read)} of ${grouped(inputTokens(tokens))} tokens came from the cache.${why}`
  return { n, tokens: lost, cost: price && costOfLost(lost, tokens, price), message }
}

/** `9,400`. */
function grouped(tokens: number): string {
  return tokens.toLocaleString('en-US')
}

function dollars(cost: number): string {
  return `$${Number(cost.toPrecision(4))}`
}
