import type { StoredEvent } from '@delta/journal/runs'
import { readRecord } from '@delta/trace/internal'
import { counted, printable } from './text.js'

/** One line for each part of what the model saw before a thought, from the record of its request; '' without one. */
export async function contextOfStep(runDirectory: string, event: StoredEvent): Promise<string> {
  const iteration = 'iteration' in event ? event.iteration : ''
  const ref = 'llm_invocation_ref' in event ? event.llm_invocation_ref : undefined
  if (typeof ref !== 'string') return ''
  const { blocks = [], left_out: leftOut = [] } = (await readRecord(runDirectory, ref)) ?? {}
  if (blocks.length === 0) return ''
  const lines = blocks.map(
    ({ source_id: id, type, messages, bytes, tokens, note }) =>
      `   ${printable(String(id))}: ${type === 'tools' ? '' : `${counted(messages, 'message')}, `}${bytes} bytes, about ${tokens} tokens${note === undefined ? '' : ` (${printable(note)})`}`,
  )
  const apis = [...new Set(leftOut.map(({ api }) => printable(String(api))))].join(', ')
  const without =
    apis &&
    `   left out: reasoning of ${counted(leftOut.length, 'answer')} that only its own API can read (${apis})\n`
  return `The model saw (--request ${iteration} prints all of it):\n${lines.join('\n')}\n${without}`
}
