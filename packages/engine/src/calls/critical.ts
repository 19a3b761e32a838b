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
export async function failedBefore(run: ActiveRun, summary: RunSummary): Promise<Outcome | undefined> {
  if (summary.userSpokeLast) return undefined
  const failed = (await criticalResults(run, summary)).find(({ status }) => status !== 'INTERRUPTED')
  return failed && failedCritically(run.agent.tools.get(failed.tool_name), failed.tool_name, failed.status)
}

/** The name of a critical tool of the last response whose outcome nobody knows. */
export async function interruptedCritically(
  run: ActiveRun,
  summary: RunSummary,
): Promise<string | undefined> {
  return (await criticalResults(run, summary)).find(({ status }) => status === 'INTERRUPTED')?.tool_name
}

/** Of the last response's calls that ran without success; a refused one ran nothing. */
async function criticalResults(run: ActiveRun, { lastThought }: RunSummary): Promise<ActionResult[]> {
  const calls = (lastThought?.tool_calls ?? []).filter(
    ({ name }) => run.agent.tools.get(name)?.settings.critical, // to look for one costs a reading of the journal
  )
  const results = await Promise.all(calls.map((call) => lastEventOf(run, 'ACTION_RESULT', call.action_id)))
  return results.flatMap((result) => (result?.execution_ref && result.status !== 'SUCCESS' ? [result] : []))
}
