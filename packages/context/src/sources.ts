import { readJournal, readTail, type StoredEvent } from '@delta/journal'
import type { ChatMessage } from '@delta/model'
import { keepLastCycles } from './conversation.js'
import { ContextError } from './errors.js'
import { type GeneratorContext, runGenerator } from './generator.js'
import type { ComputedFileSource, ContextSource, FileSource, JournalSource } from './manifest.js'
import { readText } from './read-text.js'
import { type Turn, turnsFromEvents } from './turns.js'
import { resolvePath } from './variables.js'

/** A source's text, or why there is none. */
export type SourceText = { text: string } | { skipped: string; warning?: string }

/** The name of a source in messages, records and block headers: its id, else its path as written. */
export function sourceName(source: ContextSource): string {
  if (source.id !== undefined) return source.id
  switch (source.type) {
    case 'file':
      return source.path
    case 'computed_file':
      return source.outputPath
    default:
      return source.type
  }
}

/** @throws {ContextError} `ERR_CONTEXT_SOURCE`: the file is needed and cannot be used. */
export async function readFileSource(source: FileSource, context: GeneratorContext): Promise<SourceText> {
  return readOutput(source, resolvePath(source.path, context.variables, 'AGENT_HOME'))
}

/** @throws {ContextError} `ERR_CONTEXT_GENERATOR`, `ERR_CONTEXT_SOURCE`, `ERR_CONTEXT_ABORTED`. */
export async function computeSource(
  source: ComputedFileSource,
  context: GeneratorContext,
): Promise<SourceText> {
  const path = resolvePath(source.outputPath, context.variables, 'CWD')
  const generated = await runGenerator(source.generator, path, context)
  if (generated.ok) return readOutput(source, path)

  const name = sourceName(source)
  const message = `context.yaml: the source "${name}": ${generated.message}`
  if (generated.aborted) throw new ContextError('ERR_CONTEXT_ABORTED', message, { source: name })
  if (source.onMissing === 'skip') return { skipped: 'generator failed', warning: message }
  throw new ContextError('ERR_CONTEXT_GENERATOR', `${message}\nTo go on without it: on_missing: skip`, {
    source: name,
  })
}

async function readOutput(source: FileSource | ComputedFileSource, path: string): Promise<SourceText> {
  const read = await readText(path)
  if (read.ok) return { text: read.text }
  if (read.missing && source.onMissing === 'skip') return { skipped: 'missing' }

  const name = sourceName(source)
  const message = `context.yaml: the source "${name}": ${path} ${read.message}.`
  if (source.onMissing === 'skip') return { skipped: 'unusable', warning: message }
  const hint = read.missing ? '\nCreate the file, or say that it may be missing: on_missing: skip' : ''
  throw new ContextError('ERR_CONTEXT_SOURCE', `${message}${hint}`, { source: name })
}

/** A run's conversation, from its file (only as much of it as is needed) or from events already read. */
export async function readTurns(
  source: JournalSource,
  journal: string | readonly StoredEvent[],
): Promise<Turn[]> {
  const { maxIterations } = source
  if (typeof journal !== 'string') return limit(turnsFromEvents(journal), maxIterations)
  if (maxIterations === undefined) return turnsFromEvents((await readJournal(journal)).events)
  return limit(turnsFromEvents((await readTail(journal, maxIterations)).events), maxIterations)
}

function limit(turns: Turn[], maxIterations: number | undefined): Turn[] {
  return maxIterations === undefined ? turns : keepLastCycles(turns, maxIterations)
}

/** A block of text as the model gets it. */
export function blockMessage(name: string, text: string): ChatMessage {
  return { role: 'system', content: `# Context Block: ${name}\n\n${text}` }
}
