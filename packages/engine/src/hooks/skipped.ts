import type { HookName } from '@delta/config-loader'
import { isKnownEvent } from '@delta/journal'
import { type ActiveRun, record } from '../active-run.js'
import { lastIterationOf } from '../history.js'

/** Journals that a hook of the agent was not run, so that an audit knows of every hook that was due. */
export function recordSkipped(
  run: ActiveRun,
  name: HookName,
  { iteration, actionId }: { iteration: number; actionId?: string | undefined },
): undefined {
  if (!run.agent.hooks[name]) return
  record(run, {
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
export async function recordSkippedOf(run: ActiveRun, iteration: number): Promise<void> {
  const due = OF_EACH_CYCLE.filter((name) => run.agent.hooks[name])
  if (due.length === 0) return
  const seen = lastIterationOf(await run.run.events()).map((event) =>
    isKnownEvent(event) && event.type === 'HOOK_EXECUTION_AUDIT' && event.iteration === iteration
      ? event.hook_name
      : undefined,
  )
  for (const name of due) if (!seen.includes(name)) recordSkipped(run, name, { iteration })
}
