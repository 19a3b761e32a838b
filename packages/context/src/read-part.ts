import type { ChatMessage } from '@delta/model'
import { holds, type Situation } from './condition.js'
import type { ContextSource } from './manifest.js'
import type { Meter } from './meter.js'
import type { Part, WeighedTurn } from './part.js'
import type { TextReader } from './read-text.js'
import { sourceName } from './source-name.js'
import { computeSource, type JournalInput, readFileSource, readTurns } from './sources.js'
import type { Turn } from './turns.js'

export interface ReadOptions extends Situation {
  journalPath: JournalInput
  readText: TextReader
  signal?: AbortSignal
}

/** Reads one source: its text, its conversation, or the reason why there is none. */
export async function readPart(source: ContextSource, options: ReadOptions, meter: Meter): Promise<Part> {
  if (source.condition !== undefined && !(await holds(source.condition, options))) {
    return { source, turns: [], note: `left out: ${source.condition.when} does not hold` }
  }
  if (source.type === 'journal') {
    return { source, turns: await weighTurns(await readTurns(source, options.journalPath), meter) }
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
  const messages = await meter.weigh([blockMessage(sourceName(source), found.text)])
  return { source, turns: [{ kind: 'system', messages }], ...(found.note && { note: found.note }) }
}

/** A block of text as the model gets it. */
function blockMessage(name: string, text: string): ChatMessage {
  return { role: 'system', content: `# Context Block: ${name}\n\n${text}` }
}

/** All in one go: a counter may be a program. */
async function weighTurns(turns: readonly Turn[], meter: Meter): Promise<WeighedTurn[]> {
  const all: ChatMessage[] = []
  for (const { messages } of turns) for (const message of messages) all.push(message)
  const weighed = await meter.weigh(all)
  let next = 0
  return turns.map(({ kind, iteration, messages }) => {
    next += messages.length
    const own = weighed.slice(next - messages.length, next)
    return iteration === undefined ? { kind, messages: own } : { kind, iteration, messages: own }
  })
}
