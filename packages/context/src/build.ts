import { createHash } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { ChatMessage } from '@delta/model'
import { textOf } from '@delta/model/internal'
import { fitIntoBudget } from './budget.js'
import { messagesOf, type SizedMessage, sizeMessage } from './conversation.js'
import { ContextError } from './errors.js'
import { type ContextManifest, type ContextSource, sourceName } from './manifest.js'
import { type Part, type ReadOptions, readPart } from './sources.js'
import { createMeter, type Meter, type MeterOptions } from './tokens.js'

/** What a context is built from besides its manifest. */
export interface BuildOptions extends ReadOptions, MeterOptions {}

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
  for (const [name, path] of Object.entries(options.variables)) {
    if (isAbsolute(path)) continue // a relative path would be read, or written, beside the caller
    throw new ContextError('ERR_CONTEXT_USAGE', `The variable ${name} must be an absolute path, not ${path}.`)
  }
  const parts: Part[] = []
  for (const source of manifest.sources) {
    if (options.signal?.aborted)
      throw new ContextError('ERR_CONTEXT_ABORTED', 'The context was not built: stopped.')
    parts.push(await readPart(source, manifest, options))
  }
  const meter = createMeter(manifest, options)
  await meter.count(messagesOf(parts.flatMap(({ groups }) => groups)))
  const context: BuiltContext = { messages: [], blocks: [], warnings: [] }
  for (const part of await fitIntoBudget(parts, manifest, meter)) {
    add(context, part, { merge: manifest.merge === true, meter })
    if (part.warning !== undefined) context.warnings.push(part.warning)
  }
  return context
}

/** Puts a source behind those before it: as messages of its own, or into the last one. */
function add(context: BuiltContext, part: Part, { merge, meter }: { merge: boolean; meter: Meter }): void {
  const { source, groups, header = '', note } = part
  const own = [...messagesOf(groups)]
  const neighbour = merge ? neighbourOf(context, part) : undefined
  const { from, bytes } = neighbour ? joinTo(neighbour, context, own[0]) : addTo(context, own)
  const message = context.messages.length - (neighbour ? 1 : own.length)
  const text = source.type === 'journal' ? undefined : own[0]?.message.content
  const notes = [note, neighbour && `in one message with ${neighbour.source_id}`].filter(Boolean)
  context.blocks.push({
    source_id: sourceName(source),
    type: source.type,
    messages: own.length,
    ...(own.length > 0 && { message }),
    ...(text !== undefined && {
      from,
      to: from + Buffer.byteLength(textOf(text)),
      header_bytes: Buffer.byteLength(header),
    }),
    bytes,
    tokens: meter.tokensOf(groups),
    sha256: createHash('sha256')
      .update(own.map(({ json }) => json).join(''))
      .digest('hex'),
    ...(notes.length > 0 && { note: notes.join('; ') }),
  })
}

/** @returns The byte of its first message with which the source begins, and how many bytes of JSON are its own. */
function addTo(context: BuiltContext, own: readonly SizedMessage[]): { from: number; bytes: number } {
  for (const { message } of own) context.messages.push(message)
  return { from: 0, bytes: own.reduce((sum, { bytes }) => sum + bytes, 0) }
}

/** The source whose message one of the same role becomes part of. A conversation is part of none. */
function neighbourOf({ blocks, messages }: BuiltContext, { source, groups }: Part): ContextBlock | undefined {
  const last = blocks.findLast((block) => block.messages > 0 || block.type === 'journal')
  const areTexts = source.type !== 'journal' && last?.type !== 'journal'
  const role = groups[0]?.messages[0]?.message.role
  return areTexts && role === messages.at(-1)?.role ? last : undefined
}

/** How the JSON of a block of text ends. */
const CLOSING = '"}'

/** Makes the last message longer by a blank line and a text. Returns as `addTo`. */
function joinTo(neighbour: ContextBlock, context: BuiltContext, added: SizedMessage | undefined) {
  const before = context.messages.pop()
  const text = textOf(before?.content ?? null)
  const blank = '\n\n'.slice(/\n{0,2}$/.exec(text)?.[0].length)
  const content = `${text}${blank}${textOf(added?.message.content ?? null)}`
  const bytesBefore = Buffer.byteLength(JSON.stringify(before)) - CLOSING.length
  const { message, bytes } = sizeMessage({ ...before, content } as ChatMessage)
  context.messages.push(message)
  neighbour.bytes -= CLOSING.length
  return { from: Buffer.byteLength(text) + blank.length, bytes: bytes - bytesBefore }
}
