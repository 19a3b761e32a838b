import { createHash } from 'node:crypto'
import type { StoredEvent } from '@delta/journal'
import type { ChatMessage } from '@delta/model'
import { holds } from './condition.js'
import { ContextError } from './errors.js'
import type { ContextManifest, ContextSource } from './manifest.js'
import { blockMessage, computeSource, readFileSource, readTurns, sourceName } from './sources.js'
import { type Calibration, estimateTokens } from './tokens.js'
import type { ContextVariables } from './variables.js'

export interface BuildOptions {
  /** The run's journal, or its events if they are at hand. */
  journalPath: string | readonly StoredEvent[]
  variables: ContextVariables
  /** For generators, and for conditions. Engine credentials in it reach no generator without `pass_env`. */
  environment: NodeJS.ProcessEnv
  /** The iteration that is about to begin, from 1. */
  iteration: number
  /** Everything users said in this run. */
  task: string
  calibration?: Calibration
  signal?: AbortSignal
}

/** What one source of `context.yaml` became. */
export interface ContextBlock {
  source_id: string
  type: ContextSource['type']
  /** How many chat messages; 0 if the source was left out. */
  messages: number
  /** Of these messages as JSON. */
  bytes: number
  /** Estimated, or counted if there is a counter. */
  tokens: number
  sha256: string
  /** Why it was left out, or what was cut. */
  note?: string
}

export interface BuiltContext {
  messages: ChatMessage[]
  /** One for each source, in order, also for those that were left out. */
  blocks: ContextBlock[]
  warnings: string[]
}

/**
 * Builds what the model is to see: each source of the manifest in order, nothing besides.
 *
 * @throws {ContextError} naming the source, if one that must be there cannot be used.
 */
export async function buildContext(manifest: ContextManifest, options: BuildOptions): Promise<BuiltContext> {
  const messages: ChatMessage[] = []
  const blocks: ContextBlock[] = []
  const warnings: string[] = []
  for (const source of manifest.sources) {
    if (options.signal?.aborted)
      throw new ContextError('ERR_CONTEXT_ABORTED', 'The context was not built: stopped.')
    const part = await buildPart(source, options)
    messages.push(...part.messages)
    blocks.push(describe(source, part, options.calibration))
    if (part.warning !== undefined) warnings.push(part.warning)
  }
  return { messages, blocks, warnings }
}

interface Part {
  messages: ChatMessage[]
  note?: string
  warning?: string
}

async function buildPart(source: ContextSource, options: BuildOptions): Promise<Part> {
  if (source.condition !== undefined && !(await holds(source.condition, options))) {
    return { messages: [], note: `condition ${source.condition.when} does not hold` }
  }
  if (source.type === 'journal') {
    const turns = await readTurns(source, options.journalPath)
    return { messages: turns.flatMap((turn) => turn.messages) }
  }
  const found =
    source.type === 'file' ? await readFileSource(source, options) : await computeSource(source, options)
  if ('text' in found) return { messages: [blockMessage(sourceName(source), found.text)] }
  return {
    messages: [],
    note: found.skipped,
    ...(found.warning === undefined ? {} : { warning: found.warning }),
  }
}

function describe(
  source: ContextSource,
  { messages, note }: Part,
  calibration: Calibration | undefined,
): ContextBlock {
  const hash = createHash('sha256')
  let bytes = 0
  for (const message of messages) {
    const text = JSON.stringify(message)
    bytes += Buffer.byteLength(text)
    hash.update(text)
  }
  return {
    source_id: sourceName(source),
    type: source.type,
    messages: messages.length,
    bytes,
    tokens: estimateTokens(bytes, calibration),
    sha256: hash.digest('hex'),
    ...(note === undefined ? {} : { note }),
  }
}
