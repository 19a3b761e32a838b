import type { Tokens } from '@delta/model'

/** How the tokens that a request read were billed. */
export interface Share {
  /** From the cache. */
  read: number
  /** Written into the cache. */
  written: number
  /** Neither: billed in full. */
  new: number
}

/** All tokens of a share. */
export function tokensIn({ read, written, new: fresh }: Share): number {
  return read + written + fresh
}

type InputTokens = Pick<Tokens, 'input' | 'cache_read' | 'cache_write'>

/** All tokens that a request read, from the cache or not. */
export function inputTokens({ input, cache_read, cache_write }: InputTokens): number {
  return input + cache_read + cache_write
}

/**
 * Shares out the tokens that a request read among its pieces, which stand in its order. A cache keeps a beginning: the first
 * tokens are those from the cache, then come those that were written into it, and the rest is new. So the end of a request pays.
 *
 * @param weightOf - The estimated tokens of a piece, or its bytes.
 * @param tokens - What the provider counted. Null: the weights are taken for new tokens.
 * @returns The pieces with their shares. Each of the three adds up to what was counted, if any piece weighs something.
 */
export function shareInput<Piece extends object>(
  pieces: readonly Piece[],
  weightOf: (piece: Piece) => number,
  tokens: InputTokens | null,
): (Piece & Share)[] {
  const weights = pieces.map(weightOf)
  if (tokens === null)
    return pieces.map((piece, index) => ({ ...piece, read: 0, written: 0, new: weights[index] ?? 0 }))
  const { cache_read, cache_write } = tokens
  const whole = apportion(weights, inputTokens(tokens))
  let at = 0
  return pieces.map((piece, index) => {
    const [from, to] = [at, at + (whole[index] ?? 0)]
    at = to
    const until = (end: number) => Math.min(to, end) - Math.min(from, end)
    const read = until(cache_read)
    const written = until(cache_read + cache_write) - read
    return { ...piece, read, written, new: to - from - read - written }
  })
}

/**
 * Splits a whole number in proportion to weights, by the largest remainder.
 *
 * @returns Whole numbers that add up to `total`; all 0 if nothing weighs anything.
 */
export function apportion(weights: readonly number[], total: number): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0)
  if (sum === 0) return weights.map(() => 0)
  const exact = weights.map((weight) => (weight / sum) * total)
  const parts = exact.map(Math.floor)
  const missing = total - parts.reduce((all, part) => all + part, 0)
  const order = exact.map((value, index) => ({ index, rest: value - Math.floor(value) }))
  order.sort((one, other) => other.rest - one.rest || one.index - other.index)
  for (const { index } of order.slice(0, missing)) parts[index] = (parts[index] ?? 0) + 1
  return parts
}
