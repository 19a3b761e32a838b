import { createHash } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { ChatMessage, FunctionTool } from '@delta/model'
import { fitIntoBudget, fitTexts } from './budget.js'
import type { ContextBlock } from './context-block.js'
import { messagesOf } from './conversation.js'
import { ContextError, isContextError } from './errors.js'
import { type ContextManifest, sourceName } from './manifest.js'
import { messagesFor, neighbours, type Share } from './merge.js'
import { type SizedTools, sizeTools } from './size.js'
import { type Part, type ReadOptions, readPart } from './sources.js'
import { createMeter, type Meter, type MeterOptions } from './tokens.js'

/** Options of `buildContext`. */
export interface BuildOptions extends ReadOptions, MeterOptions {
  /** The definitions of the tools that the request carries. They count in `total_max_tokens`. */
  tools?: readonly FunctionTool[] | undefined
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
 *   `ERR_CONTEXT_BUDGET`: the parts that must stay do not fit; `blocks` says what each costs. `ERR_CONTEXT_COUNTER`, `ERR_CONTEXT_ABORTED`, `ERR_CONTEXT_USAGE`.
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
  const account = (all: readonly Part[]) => accountFor(all, { merge: manifest.merge, tools, meter })
  const fitted = await fitTexts(parts, meter)
  try {
    return account(await fitIntoBudget(fitted, { ...manifest, tools }, meter))
  } catch (error) {
    if (isContextError(error) && error.code === 'ERR_CONTEXT_BUDGET') error.blocks = account(fitted).blocks
    throw error
  }
}

function accountFor(
  parts: readonly Part[],
  { merge, tools, meter }: { merge: boolean | undefined; tools: SizedTools | undefined; meter: Meter },
): BuiltContext {
  const context: BuiltContext = { messages: [], blocks: [], warnings: [] }
  if (tools) context.blocks.push(toolsBlock(tools, meter.tokens(tools)))
  for (const run of merge ? neighbours(parts) : parts.map((part) => [part])) {
    const { messages, shares } = messagesFor(run)
    for (const [index, part] of run.entries()) {
      const place = { message: context.messages.length, tokens: meter.tokensOf(part.groups) }
      context.blocks.push(blockFor(part, { bytes: 0, notes: [], ...shares[index] }, place))
    }
    context.messages.push(...messages)
  }
  context.warnings.push(...parts.flatMap(({ warnings = [] }) => warnings))
  return context
}

/** The definitions stand beside the messages, and before them for a provider's cache. */
function toolsBlock({ bytes, sha256 }: SizedTools, tokens: number): ContextBlock {
  return { source_id: 'tools', type: 'tools', messages: 0, bytes, tokens, sha256 }
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
