import type { Tool } from '@delta/executor'
import { type ActionResult, isKnownEvent, type RunSummary, readTail } from '@delta/journal'
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
  const failed = (await withoutSuccess(run)).find((result) => hasRun(result) && hasEnded(result))
  return failed && failedCritically(run.agent.tools.get(failed.tool_name), failed.tool_name, failed.status)
}

/**
 * Why what is still to come of the last response must not begin: it may rest on a critical tool that was not run, or whose
 * outcome nobody knows. The model decides anew, for neither is a failure of the tool.
 */
export async function missingCritical(run: ActiveRun): Promise<string | undefined> {
  const missing = (await withoutSuccess(run)).find((result) => !hasRun(result) || !hasEnded(result))
  if (missing === undefined) return undefined
  const subject = `"${missing.tool_name}", a critical tool,`
  return hasRun(missing)
    ? `Not run: the outcome of ${subject} is unknown. Find out, then decide anew.`
    : `Not run: ${subject} was not run. Decide anew.`
}

const hasRun = ({ execution_ref: record }: ActionResult) => record !== null
const hasEnded = ({ status }: ActionResult) => status !== 'INTERRUPTED'

/** The results other than success that critical tools of the last response have by now. */
async function withoutSuccess({ run, agent }: ActiveRun): Promise<ActionResult[]> {
  const calls = run.summary().lastThought?.tool_calls ?? []
  if (!calls.some(({ name }) => agent.tools.get(name)?.settings.critical)) return [] // spares most runs the reading
  const { events } = await readTail(run.paths.journal, 1, { userMessages: false })
  return events.flatMap((event) =>
    isKnownEvent(event) &&
    event.type === 'ACTION_RESULT' &&
    event.status !== 'SUCCESS' &&
    agent.tools.get(event.tool_name)?.settings.critical
      ? [event]
      : [],
  )
}
