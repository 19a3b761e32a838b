import type { Tool } from '@delta/executor'
import { type ActionResult, isKnownEvent, type RunSummary, readTail, type StoredEvent } from '@delta/journal'
import type { ActiveRun } from '../active-run.js'
import type { Outcome } from '../outcome.js'

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
  const failed = (await criticalWithoutSuccess(run)).find(hasFailed)
  return failed && failedCritically(run.agent.tools.get(failed.tool_name), failed.tool_name, failed.status)
}

/**
 * Why what is still to come of the last response must not begin: it may rest on a critical tool that was not run, or whose
 * outcome nobody knows. The model decides anew, for neither is a failure of the tool.
 */
export async function missingCritical(run: ActiveRun): Promise<string | undefined> {
  const missing = (await criticalWithoutSuccess(run)).find((result) => !hasFailed(result))
  if (missing === undefined) return undefined
  const subject = `"${missing.tool_name}", a critical tool,`
  return missing.status === 'INTERRUPTED'
    ? `Not run: the outcome of ${subject} is unknown. Find out what it did, then decide how to go on.`
    : `Not run: ${subject} was not run. Decide again how to go on.`
}

/** True of a command that ran and ended. */
function hasFailed({ status, execution_ref: record }: ActionResult): boolean {
  return status !== 'INTERRUPTED' && record !== null
}

/** The results other than success that critical tools of the last response have by now. */
async function criticalWithoutSuccess({ run, agent }: ActiveRun): Promise<ActionResult[]> {
  const isCritical = (name: string) => agent.tools.get(name)?.settings.critical
  if (![...agent.tools.keys()].some(isCritical)) return [] // most agents have none
  const calls = run.summary().lastThought?.tool_calls ?? []
  if (!calls.some(({ name }) => isCritical(name))) return [] // spares most runs the reading
  const { events } = await readTail(run.paths.journal, 1, { userMessages: false })
  return events.filter(
    (event): event is StoredEvent & ActionResult =>
      isKnownEvent(event) &&
      event.type === 'ACTION_RESULT' &&
      event.status !== 'SUCCESS' &&
      isCritical(event.tool_name) === true,
  )
}
