import { readJournal } from '@delta/journal'
import { runEventSchema, type StoredEvent } from '@delta/journal/runs'
import { keepLastCycles, turnsOf } from '../conversation/conversation.js'
import type { Conversation } from '../conversation/follow-events.js'
import type { Turn } from '../conversation/turn.js'
import { ContextError } from '../errors.js'
import type { ComputedFileSource, FileSource, JournalSource } from '../manifest/manifest.js'
import { sourceName } from '../manifest/manifest.js'
import { resolvePath } from '../manifest/variables.js'
import { isFresh, readReceipt, remember } from './cache.js'
import type { CommandContext } from './context-command.js'
import { runGenerator } from './generator.js'
import { type ReadText, readText } from './read-text.js'

/** A source's text, or why there is none. `note` says what is worth knowing about it. */
export type SourceText = { text: string; note?: string } | { skipped: string; warning?: string }

/** @throws {ContextError} `ERR_CONTEXT_SOURCE`: the file is needed and cannot be used. */
export function readFileSource(source: FileSource, { variables }: CommandContext): SourceText {
  const path = resolvePath(source.path, variables, 'AGENT_HOME')
  return textOrReason(source, path, readText(path, variables))
}

/** @throws {ContextError} `ERR_CONTEXT_GENERATOR`, `ERR_CONTEXT_SOURCE`, `ERR_CONTEXT_ABORTED`. */
export async function computeSource(
  source: ComputedFileSource,
  context: CommandContext,
): Promise<SourceText> {
  const path = resolvePath(source.outputPath, context.variables, 'CWD')
  const receipt = await readReceipt(source, path)
  const present = receipt && readText(path, context.variables)
  if (present?.ok && (await isFresh(receipt, { source, text: present.text, ...context })))
    return { text: present.text, note: 'from cache' }

  const generated = await runGenerator(source.generator, path, context)
  if (!generated.ok) return withoutGenerated(source, generated)
  const made = readText(path, context.variables)
  if (made.ok) await remember(path, { source, text: made.text, ...context })
  return textOrReason(source, path, made)
}

function withoutGenerated(
  source: ComputedFileSource,
  failure: { message: string; aborted: boolean },
): SourceText {
  const name = sourceName(source)
  const message = `context.yaml: the source "${name}": ${failure.message}`
  if (failure.aborted) throw new ContextError('ERR_CONTEXT_ABORTED', message, { source: name })
  if (source.onMissing === 'skip') return { skipped: 'its generator failed', warning: message }
  throw new ContextError('ERR_CONTEXT_GENERATOR', `${message}\nTo go on without it: on_missing: skip`, {
    source: name,
  })
}

function textOrReason(source: FileSource | ComputedFileSource, path: string, read: ReadText): SourceText {
  if (read.ok) return { text: read.text }
  if (read.missing && source.onMissing === 'skip') return { skipped: 'missing' }

  const name = sourceName(source)
  const message = `context.yaml: the source "${name}": ${path} ${read.message}.`
  if (source.onMissing === 'skip') return { skipped: 'unusable', warning: message }
  const hint =
    source.type === 'file' ? read.hint : 'Mend its generator, or go on without it: on_missing: skip'
  throw new ContextError('ERR_CONTEXT_SOURCE', `${message}\n${hint}`, { source: name })
}

/** Where a conversation is read from. */
export type JournalInput = string | readonly StoredEvent[] | Conversation

export async function readTurns(
  { maxIterations, dropped }: JournalSource,
  journal: JournalInput,
): Promise<Turn[]> {
  const turns = await allTurns(journal)
  return maxIterations === undefined ? turns : keepLastCycles(turns, maxIterations, dropped)
}

async function allTurns(journal: JournalInput): Promise<Turn[]> {
  if (typeof journal === 'string')
    return turnsOf((await readJournal(journal, { schema: runEventSchema })).events)
  return 'turns' in journal ? journal.turns() : turnsOf(journal)
}
