import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContextBlock } from '@delta/context'
import type { StoredEvent } from '@delta/journal'
import { printable } from '../present/printable.js'
import { counted } from '../present/words.js'

/** One line for each part of what the model saw before a thought, from the record of its request; '' without one. */
export async function contextOfStep(runDirectory: string, event: StoredEvent): Promise<string> {
  const iteration = 'iteration' in event ? event.iteration : ''
  const ref = 'llm_invocation_ref' in event ? event.llm_invocation_ref : undefined
  if (typeof ref !== 'string') return ''
  const blocks = await readBlocks(runDirectory, ref)
  if (blocks.length === 0) return ''
  const lines = blocks.map(
    ({ source_id: id, messages, bytes, tokens, note }) =>
      `   ${printable(String(id))}: ${counted(messages, 'message')}, ${bytes} bytes, about ${tokens} tokens${note === undefined ? '' : ` (${printable(note)})`}`,
  )
  return `The model saw (--request ${iteration} prints all of it):\n${lines.join('\n')}\n`
}

/** What the record of a request (`llm_invocation_ref`) says of its parts; none if it says nothing. */
export async function readBlocks(runDirectory: string, ref: string): Promise<ContextBlock[]> {
  const path = join(runDirectory, ref)
  try {
    if (!(await stat(path)).isFile()) return [] // reading a pipe would block
    const { blocks } = JSON.parse(await readFile(path, 'utf8')) as { blocks?: unknown }
    return Array.isArray(blocks) ? (blocks as ContextBlock[]) : []
  } catch {
    return [] // a run of an old layout has no such record; the transcript does not need it
  }
}
