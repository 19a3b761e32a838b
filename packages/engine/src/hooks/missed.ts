import { join } from 'node:path'
import type { HookName } from '@delta/config-loader'
import { type ErrorEvent, isKnownEvent, type RunSummary, type StoredEvent } from '@delta/journal'
import { lastIterationOf } from '../history.js'
import { readControl } from '../hook-output.js'
import { reportResult, stopAskedFor } from '../hooks.js'
import type { Outcome } from '../outcome.js'
import type { RunState } from '../run-state.js'

/**
 * Runs `post_tool_execution` for each result that the last engine journaled, but was killed before showing to the hook: the
 * hook may change what the model reads, so it must not be skipped.
 */
export async function reportMissedResults(state: RunState): Promise<Outcome | undefined> {
  if (!state.agent.hooks.post_tool_execution) return undefined
  const events = await leftBehind(state)
  const isSeen = (id: string) =>
    events.some((event) => isAudit(event, 'post_tool_execution') && event.action_id === id)
  for (const event of events) {
    if (!isKnownEvent(event) || event.type !== 'ACTION_RESULT') continue
    const { action_id, tool_name, iteration, observation_content: observation } = event
    const ended = event.execution_ref !== null && event.status !== 'INTERRUPTED'
    if (!ended || isSeen(action_id)) continue
    const stopped = await reportResult(state, { action_id, name: tool_name }, { observation }, iteration)
    if (stopped) return stopped
  }
  return undefined
}

/**
 * The end of the run, if a hook asked for it and the last engine was killed before recording it. A message since then means
 * that a person wants the run to go on; and an answer stands, even if `on_iteration_end` asked to stop.
 */
export async function stoppedBefore(state: RunState, summary: RunSummary): Promise<Outcome | undefined> {
  if (summary.answer !== undefined) return undefined
  if (Object.keys(state.agent.hooks).length === 0) return undefined
  const events = await leftBehind(state)
  for (const event of events.slice(events.findLastIndex(({ type }) => type === 'USER_MESSAGE') + 1)) {
    if (!isKnownEvent(event) || event.type !== 'HOOK_EXECUTION_AUDIT') continue
    if (event.status !== 'SUCCESS' || !event.io_path_ref) continue
    const name = event.hook_name as HookName
    const { value: control } = readControl(join(state.run.directory, event.io_path_ref), name)
    const stopped = stopAskedFor({ name, control, iteration: event.iteration ?? summary.lastIteration })
    if (stopped) return stopped
  }
  return undefined
}

/** True when the last engine died between the last step of its cycle and the end of `on_iteration_end`. */
export async function missedIterationEnd(state: RunState): Promise<boolean> {
  if (!state.agent.hooks.on_iteration_end) return false
  const events = await leftBehind(state)
  const began = events.some(({ type }) => type === 'THOUGHT' || type === 'ACTION_RESULT')
  return began && !events.some((event) => isAudit(event, 'on_iteration_end'))
}

/** True when `on_error` ran for the failure that the last engine recorded. */
export async function wasTold(state: RunState, { seq }: ErrorEvent): Promise<boolean> {
  const events = await leftBehind(state)
  return events.some((event) => event.seq > seq && isAudit(event, 'on_error'))
}

/** What the last engine journaled in the last cycle; nothing if it wrote its `ENGINE_END`, for then it left nothing undone. */
async function leftBehind({ run }: RunState): Promise<StoredEvent[]> {
  const events = lastIterationOf(await run.events())
  return events.slice(events.findLastIndex(({ type }) => type === 'ENGINE_END') + 1)
}

function isAudit(event: StoredEvent, hook: string): event is StoredEvent & { action_id?: string } {
  if (!isKnownEvent(event) || event.type !== 'HOOK_EXECUTION_AUDIT') return false
  return event.hook_name === hook && event.status !== 'SKIPPED'
}
