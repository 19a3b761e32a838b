import { AGENT_DEFAULTS } from '@delta/config-loader/internal'
import type { Tool } from '@delta/executor'
import { type ActionResult, isKnownEvent, type RunSummary, type StoredEvent } from '@delta/journal/runs'
import { replaceLoneSurrogates } from '@delta/model/internal'
import type { Outcome } from './outcome.js'
import { type Call, lastIterationOf, type RunState, record } from './run-state.js'

const BEGUN_BEFORE =
  'It had begun before, and was interrupted: the outcome of that is unknown; it may have done all, part or none of its work.'

/**
 * Journals a tool call that is not run, so that it has a request and exactly one result, both readable by `jq` whatever the
 * arguments hold. A call that an earlier engine had begun counts as interrupted.
 */
export function rejectCall(
  state: RunState,
  call: Call,
  refusal: {
    iteration: number
    /** Default 1: the call has not begun. */
    attempt?: number
    /** Default: the arguments as the model wrote them. */
    args?: unknown
    /** Default `BLOCKED`: the call was not allowed to run. */
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
      tool_args: replaceLoneSurrogates(args), // the thought has them as the model wrote them
      resolved_command: null,
      argv: null,
    },
    {
      type: 'ACTION_RESULT',
      ...about,
      status: hasBegun ? 'INTERRUPTED' : status,
      exit_code: null,
      signal: null,
      observation_content: replaceLoneSurrogates(observation),
      execution_ref: null,
      duration_ms: 0,
    },
  )
}

/** Why a call beyond `max_tool_calls` of its response must not begin; undefined for the other calls. */
export function beyondLimit({ agent }: RunState, calls: readonly Call[], call: Call): string | undefined {
  const limit = agent.maxToolCalls ?? AGENT_DEFAULTS.maxToolCalls
  if (calls.length <= limit) return undefined
  if (calls.slice(0, limit).some(({ action_id: id }) => id === call.action_id)) return undefined
  return `Not run: this response has ${calls.length} tool calls, and at most ${limit} of one response run. Make the rest again in the next one, if they are still needed.`
}

/**
 * What the model reads when its token limit cut off the arguments of this call of the last thought; undefined otherwise.
 * Arguments cut off before they began are an empty string, which must not count as a call without arguments.
 */
export function cutOffObservation(state: RunState, call: Call): string | undefined {
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
    return false // the error says nothing else
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
 * The failure for a result that the last engine recorded but was killed before handling. A message since then cancels it:
 * a person wants the run to continue.
 */
export async function unhandledCriticalFailure(
  state: RunState,
  summary: RunSummary,
): Promise<Outcome | undefined> {
  if (summary.userSpokeLast) return undefined
  const failed = (await criticalWithoutSuccess(state)).find(hasFailed)
  return failed && failedCritically(state.agent.tools.get(failed.tool_name), failed)
}

/**
 * Why the remaining calls of the last response must not begin: they may depend on a critical tool that was not run or whose
 * outcome is unknown. The tool has not failed, so the model decides again.
 */
export async function unmetCritical(state: RunState): Promise<string | undefined> {
  const missing = (await criticalWithoutSuccess(state)).find((result) => !hasFailed(result))
  if (missing === undefined) return undefined
  return `Not run: "${missing.tool_name}", a critical tool, was not run, or its outcome is unknown: see its result, then decide how to go on.`
}

/** True when the command ran to its end. */
function hasFailed({ status, execution_ref: record }: ActionResult): boolean {
  return status !== 'INTERRUPTED' && record !== null
}

/** The results, other than success, of critical tools in the last response. */
async function criticalWithoutSuccess({ run, agent }: RunState): Promise<ActionResult[]> {
  if (![...agent.tools.values()].some(({ settings }) => settings.critical)) return [] // most agents have none
  return lastIterationOf(await run.events()).filter(
    (event): event is StoredEvent & ActionResult =>
      isKnownEvent(event) &&
      event.type === 'ACTION_RESULT' &&
      event.status !== 'SUCCESS' &&
      agent.tools.get(event.tool_name)?.settings.critical === true,
  )
}
