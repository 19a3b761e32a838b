import { createHash } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { ChatMessage, FunctionTool } from '@delta/model'
import { fitIntoBudget } from './budget.js'
import { messagesOf } from './conversation.js'
import { ContextError } from './errors.js'
import { type ContextManifest, type ContextSource, sourceName } from './manifest.js'
import { messagesFor, neighbours, type Share } from './merge.js'
import { type SizedTools, sizeTools } from './size.js'
import { type Part, type ReadOptions, readPart } from './sources.js'
import { createMeter, type MeterOptions } from './tokens.js'

/** Options of `buildContext`. */
export interface BuildOptions extends ReadOptions, MeterOptions {
  /** The definitions of the tools that the request carries. They count in `total_max_tokens`. */
  tools?: readonly FunctionTool[] | undefined
}

/** The account of one source of `context.yaml`, or of the definitions of the tools. */
export interface ContextBlock {
  /** Its `id` in `context.yaml`, else its path without a leading variable, else its type. `tools` for the definitions. */
  source_id: string
  type: ContextSource['type'] | 'tools'
  /** Number of chat messages that it is, or is part of; 0 if the source was left out, and for the tools. */
  messages: number
  /** Index of the first of them in the request. Absent if the source was left out. */
  message?: number
  /** Of a text: its first byte in the UTF-8 content of that message. */
  from?: number
  /** Of a text: the byte after its last one. */
  to?: number
  /** Of a text: how many of its first bytes are the header and the blank line below. */
  header_bytes?: number
  /**
   * Size of what its messages send, as JSON. Sources of a merged message share its size. An image or a file counts four bytes
   * for each of its tokens.
   */
  bytes: number
  /** Estimated, or counted if there is a counter. */
  tokens: number
  /** Of its messages as JSON, concatenated, without `prompt_cache`; of a merged text as if it were alone. */
  sha256: string
  /** Why it was left out, what was cut, where it came from, and where its `prompt_cache` stands. */
  note?: string
}

/** The messages for the model, and an account of their sources. */
export interface BuiltContext {
  messages: ChatMessage[]
  /** The tools, if they were given; then one for each source, in order, also for a source that was left out. */
  blocks: ContextBlock[]
  /** For people, one sentence each: a source that was left out, or failed and may be missing. */
  warnings: string[]
}

/**
 * Builds the messages for the model from the sources of the manifest, in order. Nothing else is sent.
 *
 * @throws {ContextError} `ERR_CONTEXT_SOURCE`, `ERR_CONTEXT_GENERATOR`: the named source must be there and cannot be used.
 *   `ERR_CONTEXT_BUDGET`: the parts that must stay do not fit. `ERR_CONTEXT_COUNTER`, `ERR_CONTEXT_ABORTED`, `ERR_CONTEXT_USAGE`.
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
 *
 * @example
 * const variables = { AGENT_HOME: '/agent', CWD: '/work', RUN_DIR: '/work/.delta/r1' }
 * const options = { journalPath: 'journal.jsonl', variables, env: process.env, iteration: 1, task: 'Count.' }
 * const { messages, blocks } = await buildContext(manifest, options)
 */
export async function buildContext(manifest: ContextManifest, options: BuildOptions): Promise<BuiltContext> {
  for (const [name, path] of Object.entries(options.variables)) {
    if (path === undefined || isAbsolute(path)) continue // a relative path would be read, or written, beside the caller
    throw new ContextError('ERR_CONTEXT_USAGE', `The variable ${name} must be an absolute path, not ${path}.`)
  }
  const parts: Part[] = []
  for (const source of manifest.sources) {
    if (options.signal?.aborted)
      throw new ContextError('ERR_CONTEXT_ABORTED', 'The context was not built: stopped.')
    parts.push(await readPart(source, manifest, options))
  }
  const meter = createMeter(manifest, options)
  const tools = options.tools && sizeTools(options.tools)
  await meter.count([...(tools ? [tools] : []), ...messagesOf(parts.flatMap(({ groups }) => groups))])
  const fitted = await fitIntoBudget(parts, { ...manifest, tools }, meter)
  const context: BuiltContext = { messages: [], blocks: [], warnings: [] }
  if (tools) context.blocks.push(toolsBlock(tools, meter.tokens(tools)))
  for (const run of manifest.merge ? neighbours(fitted) : fitted.map((part) => [part])) {
    const { messages, shares } = messagesFor(run)
    for (const [index, part] of run.entries()) {
      const place = { message: context.messages.length, tokens: meter.tokensOf(part.groups) }
      context.blocks.push(blockFor(part, { bytes: 0, notes: [], ...shares[index] }, place))
    }
    context.messages.push(...messages)
  }
  for (const { warning } of fitted) if (warning !== undefined) context.warnings.push(warning)
  return context
}

/** The tools stand beside the messages, and before them for a provider's cache. */
const TOOLS = 'tools'

function toolsBlock({ bytes, sha256 }: SizedTools, tokens: number): ContextBlock {
  return { source_id: TOOLS, type: TOOLS, messages: 0, bytes, tokens, sha256 }
}

function blockFor(
  { source, groups, header = '', note }: Part,
  { from, to, bytes, notes }: Share,
  { message, tokens }: { message: number; tokens: number },
): ContextBlock {
  const own = messagesOf(groups)
  const said = [note, ...notes].filter((each) => each !== undefined)
  return {
    source_id: sourceName(source),
    type: source.type,
    messages: own.length,
    ...(own.length > 0 && { message }),
    ...(from !== undefined && to !== undefined && { from, to, header_bytes: Buffer.byteLength(header) }),
    bytes,
    tokens,
    sha256: createHash('sha256')
      .update(own.map(({ json }) => json).join(''))
      .digest('hex'),
    ...(said.length > 0 && { note: said.join('; ') }),
  }
}

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
interface Compared extends Pick<BuiltContext, 'blocks'> {
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
  const tools = after.blocks.find(({ type }) => type === TOOLS)?.tokens ?? 0
  const same = (tools * byte) / Buffer.byteLength(sending)
  const tokensAfter = Math.round(sum(after.blocks.map(({ tokens }) => tokens)) - same)
  return changeOf({ source_id: TOOLS, type: TOOLS }, byte, tokensAfter)
}

/** Records of before 0.2 have no block of the tools. */
function withoutTools(request: Compared): Compared {
  return { ...request, blocks: request.blocks.filter(({ type }) => type !== TOOLS) }
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
