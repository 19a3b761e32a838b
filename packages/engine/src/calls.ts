import { AGENT_DEFAULTS } from '@delta/config-loader'
import type { Tool } from '@delta/executor'
import { type ActionResult, isKnownEvent, type RunSummary, type StoredEvent } from '@delta/journal/runs'
import { withoutHalves } from '@delta/model'
import type { Outcome } from './outcome.js'
import { type Call, lastIterationOf, type RunState, record } from './run-state.js'

const BEGUN_BEFORE =
  'It had begun before, and was interrupted: the outcome of that is unknown; it may have done all, part or none of its work.'

/**
 * Journals a call that was not run, so that it too has a request and exactly one result, both readable by `jq` whatever the
 * arguments hold. A call that an earlier engine had begun counts as interrupted, whatever refuses it now.
 */
export function rejectCall(
  state: RunState,
  call: Call,
  refusal: {
    iteration: number
    /** Default 1: it has not begun. */
    attempt?: number
    /** Default: as the model wrote them, of a call that is not examined. */
    args?: unknown
    /** Default `BLOCKED`: it was not to run, whatever it is. */
    status?: 'ERROR' | 'BLOCKED'
    observation: string
  },
): undefined {
  const { iteration, attempt = 1, args = call.arguments, status = 'BLOCKED' } = refusal
  const hasBegun = attempt > 1
  const observation = hasBegun ? `${refusal.observation}\n${BEGUN_BEFORE}` : refusal.observation
  const about = { iteration, action_id: call.action_id, tool_name: call.name }
  record(
    state,
    {
      type: 'ACTION_REQUEST',
      ...about,
      attempt,
      tool_args: withoutHalves(args), // the thought has them as the model wrote them
      resolved_command: null,
      argv: null,
    },
    {
      type: 'ACTION_RESULT',
      ...about,
      status: hasBegun ? 'INTERRUPTED' : status,
      exit_code: null,
      signal: null,
      observation_content: withoutHalves(observation),
      execution_ref: null,
      duration_ms: 0,
    },
  )
}

/** Why a call must not begin that comes after the last one a response may run; undefined for the others. */
export function beyondLimit({ agent }: RunState, calls: readonly Call[], call: Call): string | undefined {
  const limit = agent.maxToolCalls ?? AGENT_DEFAULTS.maxToolCalls
  const index = calls.findIndex(({ action_id: id }) => id === call.action_id)
  if (index < limit) return undefined
  return `Not run: this response has ${calls.length} tool calls, and at most ${limit} of one response run. Make the rest again in the next one, if they are still needed.`
}

/**
 * What the model reads when its token limit cut off the arguments of this call of the last thought; undefined otherwise.
 * Arguments cut off before they began are an empty text, as for a tool without parameters, and must not pass for that.
 */
export function cutCall(state: RunState, call: Call): string | undefined {
  if (isJson(call.arguments)) return undefined
  const { finish_reason: reason } = state.run.summary().lastThought ?? {}
  if (reason !== 'length') return undefined
  return [
    `ERROR: the answer was cut off at the model's token limit (finish_reason: length), in the arguments of ${JSON.stringify(call.name)}. Nothing was run.`,
    'Send less at a time, in several calls. Who runs this agent can raise the limit: llm.max_tokens in agent.yaml.',
  ].join('\n')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false // there is nothing else to learn from the error
  }
}

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
  return `Not run: "${missing.tool_name}", a critical tool, was not run, or its outcome is unknown: see its result, then decide how to go on.`
}

/** True if the command ran and ended. */
function hasFailed({ status, execution_ref: record }: ActionResult): boolean {
  return status !== 'INTERRUPTED' && record !== null
}

/** The results so far, other than success, of the critical tools in the last response. */
async function criticalWithoutSuccess({ run, agent }: RunState): Promise<ActionResult[]> {
  const isCritical = (name: string) => agent.tools.get(name)?.settings.critical
  if (![...agent.tools.keys()].some(isCritical)) return [] // most agents have none
  return lastIterationOf(await run.events()).filter(
    (event): event is StoredEvent & ActionResult =>
      isKnownEvent(event) &&
      event.type === 'ACTION_RESULT' &&
      event.status !== 'SUCCESS' &&
      isCritical(event.tool_name) === true,
  )
}
