import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContextBlock } from '@delta/context'
import type { StoredEvent } from '@delta/journal/runs'
import type { LeftOut } from '@delta/model'
import { counted, printable } from './text.js'

/** One line for each part of what the model saw before a thought, from the record of its request; '' without one. */
export async function contextOfStep(runDirectory: string, event: StoredEvent): Promise<string> {
  const iteration = 'iteration' in event ? event.iteration : ''
  const ref = 'llm_invocation_ref' in event ? event.llm_invocation_ref : undefined
  if (typeof ref !== 'string') return ''
  const { blocks, leftOut } = await readRecord(runDirectory, ref)
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

/** What the record of a request says (`llm_invocation_ref`). */
interface RequestRecord {
  blocks: ContextBlock[]
  leftOut: LeftOut[]
}

/** The record of a request, empty if there is no such file. */
export async function readRecord(runDirectory: string, ref: string): Promise<RequestRecord> {
  const path = join(runDirectory, ref)
  try {
    const isFile = (await stat(path)).isFile() // reading a pipe would block
    const { blocks, left_out: leftOut } = isFile ? JSON.parse(await readFile(path, 'utf8')) : {}
    return { blocks: [blocks ?? []].flat(), leftOut: [leftOut ?? []].flat() }
  } catch {
    return { blocks: [], leftOut: [] } // a run of an old layout has no such record; the transcript does not need it
  }
}
