import type { HookName } from '@delta/config-loader'
import { isKnownEvent } from '@delta/journal/runs'
import { lastIterationOf } from '../history.js'
import { type RunState, record } from '../run-state.js'

/** Journals that a hook of the agent was not run, so that an audit knows of every hook that was due. */
export function recordSkipped(
  state: RunState,
  name: HookName,
  { iteration, actionId }: { iteration: number; actionId?: string | undefined },
): undefined {
  if (!state.agent.hooks[name]) return
  record(state, {
    type: 'HOOK_EXECUTION_AUDIT',
    iteration,
    hook_name: name,
    status: 'SKIPPED',
    ...(actionId === undefined ? {} : { action_id: actionId }),
  })
}

/** What runs once in every cycle that comes to its end, in this order. */
const OF_EACH_CYCLE = ['pre_llm_request', 'post_llm_response', 'on_iteration_end'] as const

/** Does so for the hooks that a cycle did not come to, because the run failed in it. */
export async function recordSkippedOf(state: RunState, iteration: number): Promise<void> {
  const due = OF_EACH_CYCLE.filter((name) => state.agent.hooks[name])
  if (due.length === 0) return
  const seen = lastIterationOf(await state.run.events()).map((event) =>
    isKnownEvent(event) && event.type === 'HOOK_EXECUTION_AUDIT' && event.iteration === iteration
      ? event.hook_name
      : undefined,
  )
  for (const name of due) if (!seen.includes(name)) recordSkipped(state, name, { iteration })
}
