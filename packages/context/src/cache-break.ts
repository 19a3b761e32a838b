import type { ContextBlock } from './context-block.js'

/** The place where a request differs from the one before it, so that a provider's prompt cache ends there. */
export interface CacheBreak {
  /** The source that changed. */
  source: string
  type: ContextBlock['type']
  /** Offset of the first difference in that source's messages, or in its share of one, as JSON. */
  byte: number
  /** Tokens from there to the end, which a provider reads anew and bills in full. */
  tokensAfter: number
  /** All this as a sentence. */
  message: string
}

/** The sources of a request, and what its body says, in the words of any API. */
interface Compared {
  blocks: readonly ContextBlock[]
  messages?: unknown
  input?: unknown
  prompt?: unknown
  system?: unknown
  tools?: unknown
}

/**
 * Compares two requests of one run as a provider's prompt cache does: by their common prefix. Undefined if nothing is lost: the
 * later request continues the earlier one, or everything after the difference is new.
 */
export function findCacheBreak(before: Compared, after: Compared): CacheBreak | undefined {
  return breakInTools(before, after) ?? breakInMessages(withoutTools(before), withoutTools(after))
}

/** The tools are the beginning of what a provider caches: after a change in them, nothing is left. */
function breakInTools(before: Compared, after: Compared): CacheBreak | undefined {
  const sent = JSON.stringify(before.tools ?? [])
  const sending = JSON.stringify(after.tools ?? [])
  if (sent === sending) return undefined
  const byte = commonBytes(sent, sending)
  const tools = after.blocks.find(({ type }) => type === 'tools')?.tokens ?? 0
  const same = (tools * byte) / Buffer.byteLength(sending)
  const tokensAfter = Math.round(sum(after.blocks.map(({ tokens }) => tokens)) - same)
  return changeOf({ source_id: 'tools', type: 'tools' }, byte, tokensAfter)
}

/** Records of before 0.2 have no block of the tools. */
function withoutTools(request: Compared): Compared {
  return { ...request, blocks: request.blocks.filter(({ type }) => type !== 'tools') }
}

function breakInMessages(before: Compared, after: Compared): CacheBreak | undefined {
  const sent = textsOf(before)
  const sending = textsOf(after)
  const index = sent.findIndex((text, at) => text !== sending[at])
  const rest = sent.slice(index)
  const behind = new Set(rest)
  if (index === -1 || !sending.slice(index).some((text) => behind.has(text))) return undefined

  const sizes = sending.map((text) => Buffer.byteLength(text))
  const same = sum(sizes.slice(0, index)) + commonBytes(sent[index] ?? '', sending[index] ?? '')
  const { block, byte, next } = blockAt(before.blocks, after.blocks, same)
  if (block === undefined) return undefined
  const isAtEnd = rest.every((text, at) => text === sending[sending.length - rest.length + at])
  if (block.type === 'journal' && isAtEnd) return movedBy(block, next)
  const bytesAfter = sum(sizes) - same
  const tokensAfter = Math.round((bytesAfter * sum(after.blocks.map(({ tokens }) => tokens))) / sum(sizes))
  return changeOf(block, byte, tokensAfter)
}

function changeOf(
  { source_id: source, type }: Pick<ContextBlock, 'source_id' | 'type'>,
  byte: number,
  tokensAfter: number,
): CacheBreak {
  const message = `\`${source}\` changed at byte ${byte}: ${thousands(tokensAfter)} tokens after it cannot be cached`
  return { source, type, byte, tokensAfter, message }
}

/** The break at sources that stand behind a conversation that only grew. */
function movedBy(
  { source_id: journal }: ContextBlock,
  [first, ...more]: ContextBlock[],
): CacheBreak | undefined {
  if (first === undefined) return undefined
  const { source_id: source, type } = first
  const tokensAfter = sum([first, ...more].map(({ tokens }) => tokens))
  const message = `\`${source}\` stands behind \`${journal}\`, which grew: its ${thousands(tokensAfter)} tokens cannot be cached`
  return { source, type, byte: 0, tokensAfter, message }
}

/** The parts of all messages: what one API adds to the message before is another message in another API. */
function textsOf({ system, messages, input, prompt }: Compared): string[] {
  const list: unknown = [messages, input, prompt].find(Array.isArray) ?? []
  const said = [system ? { role: 'system', content: system } : [], list].flat() as { content?: unknown }[]
  return said.flatMap(({ content, ...rest }) => {
    const parts: unknown[] = Array.isArray(content) && content.length > 0 ? content : [content]
    return parts.map((part) => JSON.stringify({ ...rest, content: part }, plain))
  })
}

/**
 * Without breakpoints, which move with every request and are not part of what is cached. A text is a string or a part: some APIs
 * always have parts, others where a cacheable prefix ends.
 */
function plain(key: string, value: unknown): unknown {
  if (/^(prompt_cache|prompt_cache_breakpoint|cache_control)$/.test(key)) return undefined
  if (typeof value !== 'object') return value
  const { type, text, prompt_cache, prompt_cache_breakpoint, cache_control, ...more } = Object(value)
  return typeof text === 'string' && Object.keys(more).length === 0 ? text : value
}

/**
 * The first source that is not what it was, the offset in it of a byte of the messages, and the sources behind it. If all are what they were, a hook
 * changed the messages: then it is the source of that byte.
 */
function blockAt(before: readonly ContextBlock[], after: readonly ContextBlock[], at: number) {
  const changed = after.findIndex(({ source_id, sha256 }, index) => {
    return source_id !== before[index]?.source_id || sha256 !== before[index]?.sha256
  })
  const endOf = (index: number) => sum(after.slice(0, index + 1).map(({ bytes }) => bytes))
  const found = changed === -1 ? after.findIndex((_, index) => at < endOf(index)) : changed
  return { block: after[found], byte: Math.max(0, at - endOf(found - 1)), next: after.slice(found + 1) }
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
