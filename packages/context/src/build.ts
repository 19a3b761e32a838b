import type { ChatMessage } from '@delta/model'
import { fitIntoBudget } from './budget/budget.js'
import { commandCounter } from './budget/counter.js'
import { createMeter, type Meter } from './budget/meter.js'
import { type BuildOptions, checkManifest, checkOptions } from './build-options.js'
import { type Block, growingBlock } from './conversation/growing-block.js'
import { ContextError } from './errors.js'
import type { ContextManifest, ContextSource } from './manifest/manifest.js'
import { sourceName } from './manifest/source-name.js'
import type { Part } from './part.js'
import { readPart } from './read-part.js'
import { type TextReader, textReader } from './sources/read-text.js'

/** What one source of `context.yaml` became. */
export interface ContextBlock {
  /** Its `id` in `context.yaml`, else its path as written, or `journal`. */
  source_id: string
  type: ContextSource['type']
  /** How many chat messages; 0 if the source was left out. */
  messages: number
  /** Of these messages as JSON. */
  bytes: number
  /** Estimated, or counted if there is a counter. */
  tokens: number
  /** Of these messages as JSON, one after the other. */
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
  checkManifest(manifest)
  checkOptions(options)
  const meter = meterFor(manifest, options)
  const reading = { readText: readerOf(manifest), ...options }
  const parts: Part[] = []
  for (const source of manifest.sources) {
    if (options.signal?.aborted)
      throw new ContextError('ERR_CONTEXT_ABORTED', 'The context was not built: stopped.')
    parts.push(await readPart(source, reading, meter))
  }
  const fitted = await fitIntoBudget(parts, manifest, meter)
  const context: BuiltContext = { messages: [], texts: [], blocks: [], warnings: [] }
  for (const part of fitted) {
    const block = blockOf(part)
    context.messages = context.messages.concat(block.messages)
    context.texts = context.texts.concat(block.texts)
    context.blocks.push(describe(part, block, meter))
    if (part.warning !== undefined) context.warnings.push(part.warning)
  }
  return context
}

function meterFor({ tokenCounter }: ContextManifest, options: BuildOptions): Meter {
  const { calibration, countTokens } = options
  const count = countTokens ?? (tokenCounter && commandCounter(tokenCounter, options))
  return createMeter({ ...(count && { count }), ...(calibration && { calibration }) })
}

function describe({ source, turns, note }: Part, block: Block, meter: Meter): ContextBlock {
  return {
    source_id: sourceName(source),
    type: source.type,
    messages: block.messages.length,
    bytes: block.bytes,
    tokens: meter.tokensOf(turns),
    sha256: block.sha256,
    ...(note !== undefined && { note }),
  }
}

const readers = new WeakMap<ContextManifest, TextReader>()

/** Files that have not changed since the last iteration are not read again. */
function readerOf(manifest: ContextManifest): TextReader {
  const reader = readers.get(manifest) ?? textReader()
  readers.set(manifest, reader)
  return reader
}

const blocks = new WeakMap<ContextSource, ReturnType<typeof growingBlock>>()

/** What a source became is much the same in every iteration. */
function blockOf({ source, turns }: Part): Block {
  const grow = blocks.get(source) ?? growingBlock()
  blocks.set(source, grow)
  return grow(turns)
}
