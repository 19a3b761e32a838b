import type { Meter } from './budget/meter.js'
import { sizeMessage } from './conversation/sized-message.js'
import { holds, type Situation } from './manifest/condition.js'
import type { ContextSource } from './manifest/manifest.js'
import { sourceName } from './manifest/source-name.js'
import { messagesOf, type Part } from './part.js'
import type { TextReader } from './sources/read-text.js'
import { computeSource, type JournalInput, readFileSource, readTurns } from './sources/sources.js'

export interface ReadOptions extends Situation {
  journalPath: JournalInput
  readText: TextReader
  signal?: AbortSignal | undefined
}

/** Reads one source: its text, its conversation, or the reason why there is none. */
export async function readPart(source: ContextSource, options: ReadOptions, meter: Meter): Promise<Part> {
  if (source.condition !== undefined && !(await holds(source.condition, options))) {
    return { source, turns: [], note: `left out: ${source.condition.when} does not hold` }
  }
  if (source.type === 'journal') {
    const turns = await readTurns(source, options.journalPath)
    await meter.count(messagesOf(turns))
    return { source, turns }
  }
  const found =
    source.type === 'file' ? readFileSource(source, options) : await computeSource(source, options)
  if ('skipped' in found) {
    return {
      source,
      turns: [],
      note: `left out: ${found.skipped}`,
      ...(found.warning && { warning: found.warning }),
    }
  }
  const message = sizeMessage(blockMessage(sourceName(source), found.text))
  await meter.count([message])
  return { source, turns: [{ kind: 'system', messages: [message] }], ...(found.note && { note: found.note }) }
}

/** A block of text as the model gets it. */
function blockMessage(name: string, text: string): { role: 'system'; content: string } {
  return { role: 'system', content: `# Context Block: ${name}\n\n${text}` }
}
