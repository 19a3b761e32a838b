import { join } from 'node:path'
import { type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { onTestFinished } from 'vitest'

/** A directory that goes away with the test. */
export function place(files: Record<string, string> = {}): Promise<TemporaryWorkspace> {
  return temporaryWorkspace(files, { onCleanup: onTestFinished })
}

/** An event before it is numbered. */
export type Said = { type: string } & Record<string, unknown>

/** The lines of a journal whose events come a second after one another, unless they have a time of their own. */
export function journalOf(events: readonly Said[]): string {
  return events.map((event, index) => `${JSON.stringify(numbered(event, index + 1))}\n`).join('')
}

export function numbered(event: Said, seq: number): object {
  const { type, iteration, ...more } = event
  const head = { seq, timestamp: new Date(START_MS + seq * 1000).toISOString(), type }
  return { ...head, ...(iteration !== undefined && { iteration }), ...more }
}

const START_MS = Date.parse('2026-11-20T09:00:00Z')

/** The directory of a run with these events, and further files. */
export async function runOf(events: readonly Said[], files: Record<string, string> = {}): Promise<string> {
  const { path } = await place({
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [join('run', name), text])),
    'run/journal.jsonl': journalOf(events),
  })
  return join(path, 'run')
}

export const start = (more: object = {}): Said => ({
  type: 'ENGINE_START',
  run_id: 'run',
  config: { llm: { model: 'asked' } },
  ...more,
})
export const user = (content: string, more: object = {}): Said => ({ type: 'USER_MESSAGE', content, ...more })
export const thought = (iteration: number, more: object = {}): Said => ({
  type: 'THOUGHT',
  iteration,
  content: `thought ${iteration}`,
  tool_calls: [],
  ...more,
})
/** A thought that calls `work` once. */
export const calling = (iteration: number, id: string, more: object = {}): Said =>
  thought(iteration, { tool_calls: [{ id, action_id: id, name: 'work', arguments: '{}' }], ...more })
export const request = (iteration: number, id: string): Said => ({
  type: 'ACTION_REQUEST',
  iteration,
  action_id: id,
  attempt: 1,
  tool_name: 'work',
  tool_args: {},
  resolved_command: 'true',
  argv: ['true'],
})
export const result = (iteration: number, id: string, more: object = {}): Said => ({
  type: 'ACTION_RESULT',
  iteration,
  action_id: id,
  tool_name: 'work',
  status: 'SUCCESS',
  exit_code: 0,
  observation_content: `result of ${id}`,
  duration_ms: 7,
  ...more,
})

/** All that an asynchronous generator gives. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

export const TOKENS = { input: 100, cache_read: 800, cache_write: 50, output: 20, reasoning: 5 }
const PRICE = { input: 2, cache_read: 0.2, cache_write: 2.5, output: 10 }
/** 100 × 2 + 800 × 0.2 + 50 × 2.5 + 25 × 10 = 735 millionths of a dollar. */
export const COST = 0.000735
export const paid = { tokens: TOKENS, price: PRICE, provider: null }
