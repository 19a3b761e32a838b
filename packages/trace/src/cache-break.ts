import { createHash } from 'node:crypto'
import type { SentBlock } from './request-record.js'

/** The place where a request differs from the one before it, so that a provider's prompt cache ends there. */
export interface CacheBreak {
  /** The source that changed, or `tools`. */
  source: string
  type: SentBlock['type']
  /** The conversation before it, which grew: nothing else changed. */
  behind?: string
  /**
   * The first difference: a byte of the source's own text, without its header. A conversation counts as its messages in JSON, the
   * tools as their definitions in JSON.
   */
  byte: number
  /** Estimated tokens from there to the end, which a provider reads anew and bills in full. */
  tokensAfter: number
  /** All this as a sentence, without its full stop. */
  message: string
  /** What helps, as a sentence. */
  advice: string
}

/** The sources of a request, and the fields of its body, whichever API it was sent to. */
export interface ComparedRequest {
  blocks: readonly SentBlock[]
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
export function findCacheBreak(before: ComparedRequest, after: ComparedRequest): CacheBreak | undefined {
  return breakInTools(before, after) ?? breakInMessages(withoutTools(before), withoutTools(after))
}

/** The tools are the beginning of what a provider caches: after a change in them, nothing is left. */
function breakInTools(before: ComparedRequest, after: ComparedRequest): CacheBreak | undefined {
  const sent = JSON.stringify(before.tools ?? [])
  const sending = JSON.stringify(after.tools ?? [])
  if (sent === sending) return undefined
  const byte = commonBytes(sent, sending)
  const tools = after.blocks.find(({ type }) => type === 'tools')?.tokens ?? 0
  const same = (tools * byte) / Buffer.byteLength(sending)
  const tokensAfter = Math.round(sum(after.blocks.map(({ tokens }) => tokens)) - same)
  return changeOf({ source_id: 'tools', type: 'tools' }, byte, tokensAfter)
}

/** Records made before 0.2 have no block for the tools. */
function withoutTools(request: ComparedRequest): ComparedRequest {
  return { ...request, blocks: request.blocks.filter(({ type }) => type !== 'tools') }
}

function breakInMessages(before: ComparedRequest, after: ComparedRequest): CacheBreak | undefined {
  const sent = textsOf(before)
  const sending = textsOf(after)
  const index = sent.findIndex(({ json }, at) => json !== sending[at]?.json)
  const rest = sent.slice(index).map(({ json }) => json)
  const behind = new Set(rest)
  if (index === -1 || !sending.slice(index).some(({ json }) => behind.has(json))) return undefined

  const sizes = sending.map(({ json }) => Buffer.byteLength(json))
  const same = sum(sizes.slice(0, index)) + commonBytes(sent[index]?.json ?? '', sending[index]?.json ?? '')
  const { block, byte, next } = blockAt(before.blocks, after.blocks, same)
  if (block === undefined) return undefined
  const isAtEnd = rest.every((json, at) => json === sending[sending.length - rest.length + at]?.json)
  if (block.type === 'journal' && isAtEnd) return movedBy(block, next)
  const bytesAfter = sum(sizes) - same
  const tokensAfter = Math.round((bytesAfter * sum(after.blocks.map(({ tokens }) => tokens))) / sum(sizes))
  const common = commonBytes(sent[index]?.text ?? '', sending[index]?.text ?? '')
  return changeOf(block, byteOfText(block, common) ?? byte, tokensAfter)
}

/** A byte of a message, counted from where a source's own text begins in it; undefined for a source that is whole messages. */
function byteOfText({ from, header_bytes: header = 0 }: SentBlock, byte: number): number | undefined {
  return from === undefined ? undefined : Math.max(0, byte - from - header)
}

function changeOf(
  { source_id: source, type }: Pick<SentBlock, 'source_id' | 'type'>,
  byte: number,
  tokensAfter: number,
): CacheBreak {
  const message = `\`${source}\` changed at byte ${byte}: ${thousands(tokensAfter)} tokens after it cannot be cached`
  return { source, type, byte, tokensAfter, message, advice: adviceFor(type) }
}

function adviceFor(type: SentBlock['type']): string {
  if (type === 'tools') return 'Keep the tools the same through a run.'
  if (type !== 'journal') return 'Put it after the sources that do not change.'
  return 'A conversation changes when old iterations are dropped. max_iterations drops one each time: with drop_to it drops many at once, and then none for a while.'
}

/** The break at sources that stand behind a conversation that only grew. */
function movedBy({ source_id: journal }: SentBlock, [first, ...more]: SentBlock[]): CacheBreak | undefined {
  if (first === undefined) return undefined
  const { source_id: source, type } = first
  const tokensAfter = sum([first, ...more].map(({ tokens }) => tokens))
  const message = `\`${source}\` stands behind \`${journal}\`, which grew: its ${thousands(tokensAfter)} tokens cannot be cached`
  return {
    source,
    type,
    behind: journal,
    byte: 0,
    tokensAfter,
    message,
    advice: 'Put it before the conversation if it does not change.',
  }
}

/**
 * What a source was in a request: its own text with its header, the messages of a conversation as JSON, or the definitions
 * of the tools. Undefined if the request does not hold it.
 */
export function textOfBlock(request: ComparedRequest, block: SentBlock): string | undefined {
  if (block.type === 'tools') return JSON.stringify(request.tools ?? [], undefined, 2)
  const texts = textsOf(request)
  if (block.type !== 'journal') {
    const text = texts[placeOf(block, texts)]?.text
    return text && pieceOf(text, block)
  }
  const others = request.blocks.filter(({ type }) => type !== 'tools' && type !== 'journal')
  const taken = new Set(others.map((other) => placeOf(other, texts)))
  return `[${texts.flatMap(({ json }, index) => (taken.has(index) ? [] : [json])).join(',\n')}]`
}

/** Which text holds a block: the one in which it is what was measured, else the one of its message; -1 if none can. */
function placeOf(block: SentBlock, texts: readonly SentText[]): number {
  const { message, to = 0 } = block
  const measured = texts.findIndex(
    ({ text }) => text !== undefined && isMeasured(pieceOf(text, block), block),
  )
  if (measured !== -1 || message === undefined) return measured
  return Buffer.byteLength(texts[message]?.text ?? '') >= to ? message : -1
}

/** True if a text is what a block was measured as: the content of a message of a chat. */
export function isMeasured(content: string, { sha256 }: SentBlock): boolean {
  return ['system', 'user', 'assistant'].some(
    (role) => createHash('sha256').update(JSON.stringify({ role, content })).digest('hex') === sha256,
  )
}

function pieceOf(text: string, { from = 0, to }: SentBlock): string {
  return Buffer.from(text).subarray(from, to).toString()
}

/** A part of a message as JSON, and its text if it is one. */
interface SentText {
  json: string
  text: string | undefined
}

/** The parts of all messages: what one API adds to the message before is another message in another API. */
function textsOf({ system, messages, input, prompt }: ComparedRequest): SentText[] {
  const list: unknown = [messages, input, prompt].find(Array.isArray) ?? []
  const said = [system ? { role: 'system', content: system } : [], list].flat() as { content?: unknown }[]
  return said.flatMap(({ content, ...rest }) => {
    const parts: unknown[] = Array.isArray(content) && content.length > 0 ? content : [content]
    return parts.map((part) => {
      const text = typeof part === 'string' ? part : Object(part).text
      return {
        json: JSON.stringify({ ...rest, content: part }, plain),
        text: typeof text === 'string' ? text : undefined,
      }
    })
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
 * The first source that is not what it was, the offset in it of a byte of the messages, and the sources behind it. If all are
 * what they were, a hook changed the messages: then it is the source of that byte.
 */
function blockAt(before: readonly SentBlock[], after: readonly SentBlock[], at: number) {
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
