import type { BuiltContext, ContextBlock } from './build.js'
import { requireThat } from './usage.js'

/** Where a request stops being the continuation of the one before it. */
export interface CacheBreak {
  /** The source that changed. */
  source: string
  type: ContextBlock['type']
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
 * Undefined if nothing was lost: the later one goes on where the earlier one ended, or all that stands behind the
 * change is new.
 */
export function findCacheBreak(before: Compared, after: Compared): CacheBreak | undefined {
  checkCompared('the earlier context', before)
  checkCompared('the later context', after)
  const sent = textsOf(before)
  const sending = textsOf(after)
  const index = sent.findIndex((text, at) => text !== sending[at])
  const behind = new Set(sent.slice(index))
  if (index === -1 || !sending.slice(index).some((text) => behind.has(text))) return undefined
  const { block, first } = blockOf(after.blocks, index)
  if (block === undefined) return undefined

  const sizes = sending.map((text) => Buffer.byteLength(text))
  const within = commonBytes(sent[index] ?? '', sending[index] ?? '')
  const byte = sum(sizes.slice(first, index)) + within
  const bytesAfter = sum(sizes.slice(index)) - within
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

function checkCompared(what: string, context: unknown): void {
  const { messages, blocks } = Object(context) as Partial<Compared>
  const isBuilt = Array.isArray(messages) && Array.isArray(blocks)
  requireThat(isBuilt, `findCacheBreak: ${what}`, 'what buildContext gave')
}

function textsOf({ messages }: Compared): string[] {
  return messages.map((message) => JSON.stringify(message))
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
