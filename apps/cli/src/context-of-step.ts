import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoredEvent } from '@delta/journal'
import { printable } from './present/printable.js'

interface Block {
  source_id?: unknown
  messages?: unknown
  bytes?: unknown
  tokens?: unknown
}

/** One line for each part of what the model saw before a thought, from the record of its request; '' without one. */
export async function contextOfStep(runDirectory: string, event: StoredEvent): Promise<string> {
  const iteration = 'iteration' in event ? event.iteration : ''
  const ref = 'llm_invocation_ref' in event ? event.llm_invocation_ref : undefined
  if (typeof ref !== 'string') return ''
  const blocks = await readBlocks(join(runDirectory, ref))
  if (blocks.length === 0) return ''
  const lines = blocks.map(
    ({ source_id: id, messages, bytes, tokens }) =>
      `   ${printable(String(id))}: ${messages} messages, ${bytes} bytes, about ${tokens} tokens`,
  )
  return `The model saw (all of it: delta show --request ${iteration}):\n${lines.join('\n')}\n`
}

async function readBlocks(path: string): Promise<Block[]> {
  try {
    const { blocks } = JSON.parse(await readFile(path, 'utf8')) as { blocks?: unknown }
    return Array.isArray(blocks) ? (blocks as Block[]) : []
  } catch {
    return [] // a run of an old layout has no such record; the transcript does not need it
  }
}
