import type { Meter } from './budget/meter.js'
import { sizeMessage } from './conversation/turn.js'
import { holds, type Situation } from './manifest/condition.js'
import type { ContextSource, Header, JournalSource } from './manifest/manifest.js'
import { sourceName } from './manifest/manifest.js'
import { fillText } from './manifest/variables.js'
import { messagesOf, type Part } from './part.js'
import {
  computeSource,
  type JournalInput,
  readFileSource,
  readTurns,
  type SourceText,
} from './sources/sources.js'

export interface ReadOptions extends Situation {
  journalPath: JournalInput
  /** The manifest's, for sources without one of their own. */
  header?: Header | undefined
  signal?: AbortSignal | undefined
}

type TextualSource = Exclude<ContextSource, JournalSource>

/** Reads one source: its text, its conversation, or the reason why there is none. */
export async function readPart(source: ContextSource, options: ReadOptions, meter: Meter): Promise<Part> {
  if (source.condition !== undefined && !(await holds(source.condition, options))) {
    return { source, header: '', turns: [], note: `left out: ${source.condition.when} does not hold` }
  }
  if (source.type === 'journal') {
    const turns = await readTurns(source, options.journalPath)
    await meter.count(messagesOf(turns))
    return { source, header: '', turns }
  }
  const found = await readSource(source, options)
  if ('skipped' in found) {
    return {
      source,
      header: '',
      turns: [],
      note: `left out: ${found.skipped}`,
      ...(found.warning && { warning: found.warning }),
    }
  }
  const header = headerOf(source, options.header)
  const message = sizeMessage({ role: source.role ?? 'system', content: header + found.text })
  await meter.count([message])
  const turns: Part['turns'] = [{ kind: 'system', messages: [message] }]
  return { source, header, turns, ...(found.note && { note: found.note }) }
}

async function readSource(source: TextualSource, options: ReadOptions): Promise<SourceText> {
  switch (source.type) {
    case 'file':
      return readFileSource(source, options)
    case 'text':
      return { text: fillText(source.text, options.variables) }
    case 'computed_file':
      return computeSource(source, options)
    default:
      return source satisfies never
  }
}

function headerOf(source: TextualSource, ofAll: Header = true): string {
  const header = source.header ?? ofAll
  if (header === false) return ''
  const written = header === true ? '# Context Block: ${id}' : header
  return `${written.replaceAll('${id}', () => sourceName(source))}\n\n`
}
