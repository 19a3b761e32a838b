import type { Tool } from '@delta/executor'
import type { ActionResult, RunSummary } from '@delta/journal'
import type { ActiveRun } from '../active-run.js'
import type { Outcome } from '../outcome.js'
import { lastEventOf } from './find-event.js'

/** The end of the run, if its author wants none without the success of this tool. */
export function failedCritically(
  tool: Tool | undefined,
  name: string,
  status: ActionResult['status'],
): Outcome | undefined {
  if (!tool?.settings.critical || status === 'SUCCESS') return undefined
  return { status: 'FAILED', reason: `critical tool "${name}" ended with ${status}` }
}

/**
 * The same for a result that an engine recorded and did not live to draw the conclusion from. A message since then is a
 * person's word to go on.
 */
export async function failedBefore(
  run: ActiveRun,
  { lastThought, userSpokeLast }: RunSummary,
): Promise<Outcome | undefined> {
  if (userSpokeLast) return undefined
  for (const { name, action_id: actionId } of lastThought?.tool_calls ?? []) {
    const tool = run.agent.tools.get(name)
    if (!tool?.settings.critical) continue // to look costs a reading of the journal
    const result = await lastEventOf(run, 'ACTION_RESULT', actionId)
    const failed = result?.execution_ref ? failedCritically(tool, name, result.status) : undefined // a refused call ran nothing
    if (failed) return failed
  }
  return undefined
}
