import type { BuiltContext, ContextBlock } from './build.js'

/** Where a request stops being the continuation of the one before it. */
export interface CacheBreak {
  /** The source that changed. */
  source: string
  /** How far into that source's messages (as JSON) the two are the same. */
  byte: number
  /** Tokens of everything behind that place, which a provider reads anew and bills in full. */
  tokensAfter: number
  /** All this as a sentence. */
  message: string
}

type Compared = Pick<BuiltContext, 'messages' | 'blocks'>

/**
 * Compares two requests of one run as a provider's prompt cache does: by what they begin with.
 *
 * Undefined if the later one only goes on where the earlier one ended.
 */
export function findCacheBreak(before: Compared, after: Compared): CacheBreak | undefined {
  const index = before.messages.findIndex(
    (message, at) => JSON.stringify(message) !== JSON.stringify(after.messages[at]),
  )
  if (index === -1) return undefined
  const { block, first } = blockOf(after.blocks, Math.min(index, after.messages.length - 1))
  if (block === undefined) return undefined

  const sizes = after.messages.map((message) => Buffer.byteLength(JSON.stringify(message)))
  const within = commonBytes(
    JSON.stringify(before.messages[index]),
    JSON.stringify(after.messages[index] ?? null),
  )
  const byte = sum(sizes.slice(first, index)) + within
  const bytesAfter = sum(sizes.slice(index)) - within
  const tokensAfter = Math.round((bytesAfter * sum(after.blocks.map(({ tokens }) => tokens))) / sum(sizes))
  const source = block.source_id
  return {
    source,
    byte,
    tokensAfter,
    message: `\`${source}\` changed at byte ${byte}: ${thousands(tokensAfter)} tokens after it cannot be cached`,
  }
}

function blockOf(
  blocks: readonly ContextBlock[],
  index: number,
): { block: ContextBlock | undefined; first: number } {
  let first = 0
  for (const block of blocks) {
    if (index < first + block.messages) return { block, first }
    first += block.messages
  }
  return { block: undefined, first }
}

function commonBytes(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return Buffer.byteLength(one.slice(0, length))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function thousands(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}k`
}
