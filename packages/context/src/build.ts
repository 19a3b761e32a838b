import { createHash } from 'node:crypto'
import { type ChatMessage, type SystemMessage, textOf, type UserMessage } from '@delta/model'
import { fitIntoBudget } from './budget/budget.js'
import { commandCounter } from './budget/counter.js'
import { createMeter, type Meter } from './budget/meter.js'
import { type BuildOptions, checkVariables } from './build-options.js'
import { ContextError } from './errors.js'
import type { ContextManifest, ContextSource } from './manifest/manifest.js'
import { sourceName } from './manifest/manifest.js'
import { messagesOf, type Part } from './part.js'
import { readPart } from './read-part.js'

/** What one source of `context.yaml` became. */
export interface ContextBlock {
  /** Its `id` in `context.yaml`, else its path without a leading variable, else its type. */
  source_id: string
  type: ContextSource['type']
  /** How many chat messages it is, or is part of; 0 if the source was left out. */
  messages: number
  /** The number of the first of them in the request, from 0. Absent if the source was left out. */
  message?: number
  /** Of a text: the byte of that message's content with which it begins, in UTF-8. */
  from?: number
  /** Of a text: the byte of that message's content behind its end. */
  to?: number
  /** Of a text: how many of these bytes are its header and the blank line below. */
  header_bytes?: number
  /** Of its messages as JSON. Sources of a merged message share it: together they have its bytes. */
  bytes: number
  /** Estimated, or counted if there is a counter. */
  tokens: number
  /** Of its messages as JSON, one after the other; of a merged one as it would be alone. */
  sha256: string
  /** Why it was left out, what was cut, or where it came from. */
  note?: string
}

/** What the model is to see, and an account of where it came from. */
export interface BuiltContext {
  /** As they are sent. */
  messages: ChatMessage[]
  /** Each message as JSON. */
  texts: string[]
  /** One for each source, in order, also for those that were left out. */
  blocks: ContextBlock[]
  /** For people, one sentence each: what was left out, or did not work and need not. */
  warnings: string[]
}

/**
 * Builds what the model is to see: each source of the manifest in order, nothing besides.
 *
 * @throws {ContextError} `ERR_CONTEXT_SOURCE`, `ERR_CONTEXT_GENERATOR`: a source that must be there cannot be used; it is named.
 *   `ERR_CONTEXT_BUDGET`: what must stay does not fit. `ERR_CONTEXT_COUNTER`, `ERR_CONTEXT_ABORTED`, `ERR_CONTEXT_USAGE`.
 *   {JournalError} `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
 */
export async function buildContext(manifest: ContextManifest, options: BuildOptions): Promise<BuiltContext> {
  checkVariables(options.variables)
  const meter = meterFor(manifest, options)
  const reading = { header: manifest.header, ...options }
  const parts: Part[] = []
  for (const source of manifest.sources) {
    if (options.signal?.aborted)
      throw new ContextError('ERR_CONTEXT_ABORTED', 'The context was not built: stopped.')
    parts.push(await readPart(source, reading, meter))
  }
  const fitted = await fitIntoBudget(parts, manifest, meter)
  const context: BuiltContext = { messages: [], texts: [], blocks: [], warnings: [] }
  for (const part of fitted) {
    add(context, part, { merge: manifest.merge === true, meter })
    if (part.warning !== undefined) context.warnings.push(part.warning)
  }
  return context
}

function meterFor({ tokenCounter }: ContextManifest, options: BuildOptions): Meter {
  const { calibration, countTokens } = options
  const count = countTokens ?? (tokenCounter && commandCounter(tokenCounter, options))
  return createMeter({
    ...(count && { count, isProgram: !countTokens }),
    ...(calibration && { calibration }),
  })
}

/** Puts a source behind those before it: as messages of its own, or into the last one. */
function add(context: BuiltContext, part: Part, { merge, meter }: { merge: boolean; meter: Meter }): void {
  const { source, turns } = part
  const own = blockOf(part)
  const neighbour = merge ? neighbourOf(context, part, own) : undefined
  const share = neighbour ? joinTo(neighbour, context, own) : addTo(context, own)
  const notes = [part.note, neighbour && `in one message with ${neighbour.source_id}`].filter(Boolean)
  context.blocks.push({
    source_id: sourceName(source),
    type: source.type,
    messages: own.messages.length,
    ...placeOf(part, own, share),
    bytes: share.bytes,
    tokens: meter.tokensOf(turns),
    sha256: own.sha256,
    ...(notes.length > 0 && { note: notes.join('; ') }),
  })
}

/** What a source has of the messages: the number of the first, the byte of it with which it begins, and its bytes of their JSON. */
interface Share {
  message: number
  from: number
  bytes: number
}

function addTo(context: BuiltContext, { messages, texts, bytes }: Block): Share {
  const message = context.messages.length
  context.messages = context.messages.concat(messages)
  context.texts = context.texts.concat(texts)
  return { message, from: 0, bytes }
}

/** The source whose message one of the same role becomes part of. A conversation is part of none. */
function neighbourOf(context: BuiltContext, { source }: Part, { messages }: Block): ContextBlock | undefined {
  const last = context.blocks.findLast(({ messages, type }) => messages > 0 || type === 'journal')
  const isText = source.type !== 'journal' && last !== undefined && last.type !== 'journal'
  return isText && messages[0]?.role === context.messages.at(-1)?.role ? last : undefined
}

/** A message that a source of text was made into. */
type TextMessage = (SystemMessage | UserMessage) & { content: string }

/** Makes the last message longer by a blank line and a text. */
function joinTo(neighbour: ContextBlock, context: BuiltContext, { messages, texts, bytes }: Block): Share {
  const before = context.messages.pop() as TextMessage
  const added = messages[0] as TextMessage
  const lineEnds = /\n{0,2}$/.exec(before.content)?.[0].length
  const blank = '\n\n'.slice(lineEnds)
  context.messages.push({ role: before.role, content: `${before.content}${blank}${added.content}` })

  const opening = JSON.stringify({ role: added.role, content: '' }).length - CLOSING.length
  const text = context.texts.pop() ?? ''
  const escaped = JSON.stringify(blank).slice(1, -1)
  context.texts.push(`${text.slice(0, -CLOSING.length)}${escaped}${texts[0]?.slice(opening)}`)

  neighbour.bytes -= CLOSING.length
  return {
    message: context.messages.length - 1,
    from: Buffer.byteLength(before.content) + blank.length,
    bytes: bytes - opening + escaped.length,
  }
}

/** How the JSON of a block of text ends. */
const CLOSING = '"}'

function placeOf({ source, header }: Part, { messages: [first] }: Block, { message, from }: Share) {
  if (first === undefined) return {}
  if (source.type === 'journal') return { message }
  const to = from + Buffer.byteLength(textOf(first.content))
  return { message, from, to, header_bytes: Buffer.byteLength(header) }
}

/** The messages of one source, as they are sent. */
interface Block {
  messages: readonly ChatMessage[]
  /** Each message as JSON. */
  texts: readonly string[]
  /** Of all texts, in UTF-8. */
  bytes: number
  /** Of the texts one after the other, in hex. */
  sha256: string
}

function blockOf({ turns }: Part): Block {
  const all = [...messagesOf(turns)]
  const texts = all.map(({ json }) => json)
  return {
    messages: all.map(({ message }) => message),
    texts,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    sha256: createHash('sha256').update(texts.join('')).digest('hex'),
  }
}
