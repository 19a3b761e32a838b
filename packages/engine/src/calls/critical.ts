import type { Tool } from '@delta/executor'
import { type ActionResult, isKnownEvent, type RunSummary, type StoredEvent } from '@delta/journal/runs'
import { lastIterationOf } from '../history.js'
import type { Outcome } from '../outcome.js'
import type { RunState } from '../run-state.js'

/** The failure of the run when a critical tool did not succeed; undefined otherwise. */
export function failedCritically(
  tool: Tool | undefined,
  { tool_name: name, status, iteration }: Pick<ActionResult, 'tool_name' | 'status' | 'iteration'>,
): Outcome | undefined {
  if (!tool?.settings.critical || status === 'SUCCESS') return undefined
  const reason = `critical tool "${name}" ended with ${status}`
  return { status: 'FAILED', reasonCode: 'critical_tool', reason, iteration }
}

/**
 * The same for a result that the last engine recorded, but was killed before acting on. A message since then means that a
 * person wants the run to go on.
 */
export async function failedBefore(state: RunState, summary: RunSummary): Promise<Outcome | undefined> {
  if (summary.userSpokeLast) return undefined
  const failed = (await criticalWithoutSuccess(state)).find(hasFailed)
  return failed && failedCritically(state.agent.tools.get(failed.tool_name), failed)
}

/**
 * Why the remaining calls of the last response must not begin: they may depend on a critical tool that was not run, or whose
 * outcome is unknown. Neither is a failure of the tool, so the model decides again.
 */
export async function missingCritical(state: RunState): Promise<string | undefined> {
  const missing = (await criticalWithoutSuccess(state)).find((result) => !hasFailed(result))
  if (missing === undefined) return undefined
  const subject = `"${missing.tool_name}", a critical tool,`
  return missing.status === 'INTERRUPTED'
    ? `Not run: the outcome of ${subject} is unknown. Find out what it did, then decide how to go on.`
    : `Not run: ${subject} was not run. Decide again how to go on.`
}

/** True if the command ran and ended. */
function hasFailed({ status, execution_ref: record }: ActionResult): boolean {
  return status !== 'INTERRUPTED' && record !== null
}

/** The results so far, other than success, of the critical tools in the last response. */
async function criticalWithoutSuccess({ run, agent }: RunState): Promise<ActionResult[]> {
  const isCritical = (name: string) => agent.tools.get(name)?.settings.critical
  if (![...agent.tools.keys()].some(isCritical)) return [] // most agents have none
  const calls = run.summary().lastThought?.tool_calls ?? []
  if (!calls.some(({ name }) => isCritical(name))) return []
  return lastIterationOf(await run.events()).filter(
    (event): event is StoredEvent & ActionResult =>
      isKnownEvent(event) &&
      event.type === 'ACTION_RESULT' &&
      event.status !== 'SUCCESS' &&
      isCritical(event.tool_name) === true,
  )
}
