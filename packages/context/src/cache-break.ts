import type { BuiltContext, ContextBlock } from './build.js'

/** Where a request stops being the continuation of the one before it. */
export interface CacheBreak {
  /** The source that changed. */
  source: string
  type: ContextBlock['type']
  /** How far into that source's messages, or its share of one (as JSON), the two are the same. */
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
 * Undefined if nothing was lost: the later one goes on where the earlier one ended, or all that stands behind the
 * change is new.
 */
export function findCacheBreak(before: Compared, after: Compared): CacheBreak | undefined {
  const sent = textsOf(before)
  const sending = textsOf(after)
  const index = sent.findIndex((text, at) => text !== sending[at])
  const behind = new Set(sent.slice(index))
  if (index === -1 || !sending.slice(index).some((text) => behind.has(text))) return undefined

  const sizes = sending.map((text) => Buffer.byteLength(text))
  const same = sum(sizes.slice(0, index)) + commonBytes(sent[index] ?? '', sending[index] ?? '')
  const { block, byte } = blockAt(after.blocks, same)
  if (block === undefined) return undefined
  const bytesAfter = sum(sizes) - same
  const tokensAfter = Math.round((bytesAfter * sum(after.blocks.map(({ tokens }) => tokens))) / sum(sizes))
  const source = block.source_id
  return {
    source,
    type: block.type,
    byte,
    tokensAfter,
    message: `\`${source}\` changed at byte ${byte}: ${thousands(tokensAfter)} tokens after it cannot be cached`,
  }
}

function textsOf({ messages }: Compared): string[] {
  return messages.map((message) => JSON.stringify(message))
}

/** The source of a byte of the messages, and how far into its own ones that byte lies. */
function blockAt(blocks: readonly ContextBlock[], at: number) {
  let byte = at
  for (const block of blocks) {
    if (byte < block.bytes) return { block, byte }
    byte -= block.bytes
  }
  return { block: undefined, byte }
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
