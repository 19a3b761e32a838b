import { join } from 'node:path'
import type { StoredEvent } from '@delta/journal/runs'
import { temporaryWorkspace } from '@delta/testkit'
import { onTestFinished } from 'vitest'
import { type BuildOptions, buildContext, parseManifest } from '../src/index.js'

/** An agent, a workspace with these files, and a run in it; removed after the test. */
export async function placeWith(files: Record<string, string> = {}) {
  const { path: directory, write } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const work = join(directory, 'work')
  await write('agent/agent.yaml', '')
  await write('work/.delta/r1/journal.jsonl', '')
  for (const [name, text] of Object.entries(files)) await write(name, text)

  const options: BuildOptions = {
    journalPath: join(work, '.delta/r1/journal.jsonl'),
    variables: { AGENT_HOME: join(directory, 'agent'), CWD: work, RUN_DIR: join(work, '.delta/r1') },
    env: { PATH: process.env.PATH },
    iteration: 1,
    task: '',
  }
  const build = (manifest: unknown, more: Partial<BuildOptions> = {}) =>
    buildContext(parseManifest(manifest), { ...options, ...more })
  return { directory, write, options, build }
}

/** A journal in the making: each call appends an event and numbers it. */
export function history() {
  const events: StoredEvent[] = []
  const add = (event: object) => {
    events.push({ seq: events.length + 1, timestamp: '2026-11-20T09:30:00.000Z', ...event } as StoredEvent)
  }
  let count = 0
  const user = (content: string) => add({ type: 'USER_MESSAGE', content })
  const system = (content: string) => add({ type: 'SYSTEM_MESSAGE', level: 'WARN', content })
  const thought = (content: string, calls: object[] = [], more: object = {}) => {
    count += 1
    const tool_calls = calls.map((call) => ({ arguments: '{}', name: 'tool', ...call }))
    add({ type: 'THOUGHT', iteration: count, content, tool_calls, ...more })
  }
  const request = (action_id: string) =>
    add({ type: 'ACTION_REQUEST', iteration: count, action_id, attempt: 1, tool_name: 'tool' })
  const result = (action_id: string, observation_content: string) =>
    add({
      type: 'ACTION_RESULT',
      iteration: count,
      action_id,
      tool_name: 'tool',
      status: 'SUCCESS',
      observation_content,
    })
  /** A whole iteration with one call. */
  const iteration = (content: string, observation: string) => {
    const id = `c${count + 1}`
    thought(content, [{ id, action_id: id }])
    request(id)
    result(id, observation)
  }
  return { events, add, user, system, thought, request, result, iteration }
}

export function journalText(events: readonly StoredEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('')
}
