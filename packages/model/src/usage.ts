import { type Fields, isObject } from './response.js'

/** What a request cost, in buckets that add up to what is billed. In tokens. */
export type Tokens = {
  /** Read, and not from the cache. */
  input: number
  cache_read: number
  /** Read, and written into the cache. */
  cache_write: number
  /** The part of `cache_write` that is kept for an hour. */
  cache_write_1h?: number
  /** Written, without reasoning. */
  output: number
  reasoning: number
  /** How the provider's counts were corrected. */
  adjusted?: Adjustment[]
}

/**
 * `outside`: the provider counts reasoning beside the output, only its total includes it. `exclusive`: it counts cached tokens
 * beside the input. `invalid`: a count was negative, fractional or too large, and is taken as 0.
 */
export type Adjustment = 'outside' | 'exclusive' | 'invalid'

/**
 * Sorts the tokens of a response into disjoint buckets. The shape of `usage` decides, because gateways mix those of all providers:
 * Chat Completions (also DeepSeek's and Gemini's), Responses, Messages.
 *
 * @param raw - The `usage` of a response.
 * @returns Null when it holds no count: the request is unreported.
 *
 * @example
 * normaliseUsage({ prompt_tokens: 900, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 800 } })
 * // { input: 100, cache_read: 800, cache_write: 0, output: 20, reasoning: 0 }
 */
export function normaliseUsage(raw: unknown): Tokens | null {
  if (!isObject(raw)) return null
  if (raw.prompt_tokens !== undefined) return chatTokens(raw)
  if (raw.input_tokens === undefined) return null
  return isObject(raw.input_tokens_details) ? responsesTokens(raw) : messagesTokens(raw)
}

function chatTokens(usage: Fields): Tokens {
  const { count, adjusted } = counter()
  const read = detailsOf(usage.prompt_tokens_details)
  const prompt = count(usage.prompt_tokens)
  const completion = count(usage.completion_tokens)
  const isDeepSeek = usage.prompt_cache_hit_tokens !== undefined
  const cacheRead = isDeepSeek
    ? count(usage.prompt_cache_hit_tokens)
    : count(read.cached_tokens ?? usage.cache_read_input_tokens ?? usage.cached_tokens)
  const cacheWrite = isDeepSeek ? 0 : count(read.cache_write_tokens ?? usage.cache_creation_input_tokens)
  const outside = count(usage.total_tokens) - prompt - completion
  const isOutside = !isDeepSeek && outside > 0
  if (isOutside) adjusted.push('outside')
  const reasoning = count(detailsOf(usage.completion_tokens_details).reasoning_tokens)
  return {
    ...inclusive({ prompt, cacheRead, cacheWrite, adjusted }),
    ...(isOutside ? { output: completion, reasoning: outside } : split(completion, reasoning)),
    ...(adjusted.length > 0 && { adjusted }),
  }
}

function responsesTokens(usage: Fields): Tokens {
  const { count, adjusted } = counter()
  const read = detailsOf(usage.input_tokens_details)
  return {
    ...inclusive({
      prompt: count(usage.input_tokens),
      cacheRead: count(read.cached_tokens),
      cacheWrite: count(read.cache_write_tokens),
      adjusted,
    }),
    ...split(count(usage.output_tokens), count(detailsOf(usage.output_tokens_details).reasoning_tokens)),
    ...(adjusted.length > 0 && { adjusted }),
  }
}

/** Messages counts cached tokens beside the input, which is not a correction here. */
function messagesTokens(usage: Fields): Tokens {
  const { count, adjusted } = counter()
  const written = detailsOf(usage.cache_creation)
  return {
    input: count(usage.input_tokens),
    cache_read: count(usage.cache_read_input_tokens),
    cache_write: count(usage.cache_creation_input_tokens),
    ...(written.ephemeral_1h_input_tokens !== undefined && {
      cache_write_1h: count(written.ephemeral_1h_input_tokens),
    }),
    ...split(count(usage.output_tokens), count(detailsOf(usage.output_tokens_details).thinking_tokens)),
    ...(adjusted.length > 0 && { adjusted }),
  }
}

/** Reads counts, and notes the ones that cannot be right. A missing one is 0. */
function counter() {
  const adjusted: Adjustment[] = []
  function count(value: unknown): number {
    if (value === undefined || value === null) return 0
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    if (!adjusted.includes('invalid')) adjusted.push('invalid')
    return 0
  }
  return { count, adjusted }
}

function detailsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

interface Read {
  prompt: number
  cacheRead: number
  cacheWrite: number
  adjusted: Adjustment[]
}

/** The buckets of a prompt that includes what came from the cache, and what went there. */
function inclusive({ prompt, cacheRead, cacheWrite, adjusted }: Read) {
  const isExclusive = cacheRead + cacheWrite > prompt
  if (isExclusive) adjusted.push('exclusive')
  const input = isExclusive ? prompt : prompt - cacheRead - cacheWrite
  return { input, cache_read: cacheRead, cache_write: cacheWrite }
}

/** The buckets of an output that includes the reasoning. */
function split(output: number, reasoning: number) {
  const thought = Math.min(reasoning, output)
  return { output: output - thought, reasoning: thought }
}
