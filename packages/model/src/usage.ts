import { type Fields, fieldsOf, isObject } from './response.js'

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
 * beside the input, all or those that it wrote. `invalid`: a count was negative, fractional or above 10¹², and is taken as 0.
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
  const shape = isObject(raw) ? shapeOf(raw) : undefined
  if (!shape) return null
  const adjusted = new Set<Adjustment>()
  const count = (names: readonly string[]): number => {
    const value = names.map((name) => valueAt(raw, name)).find((found) => found !== undefined) ?? 0
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS)
      return value
    adjusted.add('invalid')
    return 0
  }
  const [input, read, written] = [count(shape.input), count(shape.read), count(shape.written)]
  const [output, thought] = [count(shape.output), count(shape.thought)]
  const kept = Math.min(count([LONG]), written) // a part is never more than the whole, also where a gateway drops the whole
  const onlyInTotal =
    shape === CHAT || shape === RESPONSES ? Math.max(0, count(['total_tokens']) - input - output) : 0
  const beside =
    shape === MESSAGES ? read + written : besideInput({ input, read, written, thought, onlyInTotal })
  if (beside > 0 && shape !== MESSAGES) adjusted.add('exclusive')
  const outside = onlyInTotal < beside ? onlyInTotal : onlyInTotal - beside // its total may leave the cache out, too
  if (outside > 0) adjusted.add('outside')
  const reasoning = outside > 0 ? outside : Math.min(thought, output)
  const tokens: Tokens = {
    input: input - (read + written - beside),
    cache_read: read,
    cache_write: written,
    ...(valueAt(raw, LONG) !== undefined && { cache_write_1h: kept }),
    output: outside > 0 ? output : output - reasoning,
    reasoning,
    ...(adjusted.size > 0 && { adjusted: [...adjusted] }),
  }
  return shape === MESSAGES ? compactionsOf(raw).reduce(plus, tokens) : tokens
}

/** How many cached tokens a chat or a response counts beside the input: its total says so, or they are more than a part of it. */
function besideInput(
  counts: Record<'input' | 'read' | 'written' | 'thought' | 'onlyInTotal', number>,
): number {
  const { input, read, written, thought, onlyInTotal } = counts
  const all = read + written
  const isReasoning = onlyInTotal === 0 || onlyInTotal === thought
  if (!isReasoning && onlyInTotal === all) return all
  if (!isReasoning && onlyInTotal === written && read <= input) return written
  return all > input ? all : 0
}

/** Messages does not count in the whole what it read and wrote to sum up a long conversation, by the same model. */
function compactionsOf(raw: unknown): Tokens[] {
  const { iterations } = fieldsOf(raw)
  if (!Array.isArray(iterations)) return []
  const compactions = iterations.map(fieldsOf).filter(({ type }) => type === 'compaction')
  return compactions.flatMap(({ iterations: _, ...usage }) => normaliseUsage(usage) ?? [])
}

function plus(one: Tokens, other: Tokens): Tokens {
  const kept = (one.cache_write_1h ?? 0) + (other.cache_write_1h ?? 0)
  const isKept = one.cache_write_1h !== undefined || other.cache_write_1h !== undefined
  const adjusted = [...new Set([...(one.adjusted ?? []), ...(other.adjusted ?? [])])]
  return {
    input: one.input + other.input,
    cache_read: one.cache_read + other.cache_read,
    cache_write: one.cache_write + other.cache_write,
    ...(isKept && { cache_write_1h: kept }),
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    ...(adjusted.length > 0 && { adjusted }),
  }
}

/** More than any request has; the sums of thousands of these are exact. */
const MOST_TOKENS = 1e12

/** Where a usage has its counts. The first name that is there counts; a missing count is 0. */
interface Shape {
  readonly input: readonly string[]
  readonly read: readonly string[]
  readonly written: readonly string[]
  readonly output: readonly string[]
  readonly thought: readonly string[]
}

const CHAT: Shape = {
  input: ['prompt_tokens'],
  read: [
    'prompt_tokens_details.cached_tokens',
    'cache_read_input_tokens',
    'cached_tokens',
    'num_cached_tokens', // Mistral, which also spells the details without their s
    'prompt_token_details.cached_tokens',
  ],
  written: [
    'prompt_tokens_details.cache_write_tokens',
    'cache_creation_input_tokens',
    'prompt_tokens_details.cache_creation_input_tokens', // Qwen
  ],
  output: ['completion_tokens'],
  thought: ['completion_tokens_details.reasoning_tokens'],
}

const DEEPSEEK: Shape = { ...CHAT, read: ['prompt_cache_hit_tokens'], written: [] }

const RESPONSES: Shape = {
  input: ['input_tokens'],
  // the second of each is Perplexity's
  read: ['input_tokens_details.cached_tokens', 'input_tokens_details.cache_read_input_tokens'],
  written: ['input_tokens_details.cache_write_tokens', 'input_tokens_details.cache_creation_input_tokens'],
  output: ['output_tokens'],
  thought: ['output_tokens_details.reasoning_tokens'],
}

const MESSAGES: Shape = {
  input: ['input_tokens'],
  read: ['cache_read_input_tokens'],
  written: ['cache_creation_input_tokens'],
  output: ['output_tokens'],
  thought: ['output_tokens_details.thinking_tokens'],
}

/** The part of `cache_creation_input_tokens` that is kept for an hour. */
const LONG = 'cache_creation.ephemeral_1h_input_tokens'

function shapeOf(usage: Fields): Shape | undefined {
  if (usage.prompt_tokens !== undefined) return usage.prompt_cache_hit_tokens === undefined ? CHAT : DEEPSEEK
  if (usage.input_tokens === undefined) return undefined
  return isObject(usage.input_tokens_details) ? RESPONSES : MESSAGES
}

/** The value at a path such as `prompt_tokens_details.cached_tokens`. Null counts as missing. */
function valueAt(usage: unknown, name: string): unknown {
  return name.split('.').reduce((value, field) => fieldsOf(value)[field], usage) ?? undefined
}
