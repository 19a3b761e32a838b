import { AGENT_DEFAULTS } from '@delta/config-loader'
import { withoutHalves } from '@delta/model'
import { type Call, type RunState, record } from '../run-state.js'

const BEGUN_BEFORE =
  'It had begun before, and was interrupted: the outcome of that is unknown; it may have done all, part or none of its work.'

/**
 * Journals a call that was not run, so that it too has a request and exactly one result, both readable by `jq` whatever the
 * arguments hold. A call that an earlier engine had begun counts as interrupted, whatever refuses it now.
 */
export function refuse(
  state: RunState,
  call: Call,
  refusal: {
    iteration: number
    attempt: number
    args: unknown
    status: 'ERROR' | 'BLOCKED'
    observation: string
  },
): undefined {
  const { iteration, attempt, args } = refusal
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
      status: hasBegun ? 'INTERRUPTED' : refusal.status,
      exit_code: null,
      signal: null,
      observation_content: withoutHalves(observation),
      execution_ref: null,
      duration_ms: 0,
    },
  )
}

/** Answers a call that must not begin because of what came before it; the call itself is not examined. */
export function leaveOut(state: RunState, call: Call, iteration: number, why: string): undefined {
  refuse(state, call, { iteration, attempt: 1, args: call.arguments, status: 'BLOCKED', observation: why })
}

/** Why a call must not begin that comes after the last one a response may run; undefined for the others. */
export function beyondLimit({ agent }: RunState, calls: readonly Call[], call: Call): string | undefined {
  const limit = agent.maxToolCalls ?? AGENT_DEFAULTS.maxToolCalls
  const index = calls.findIndex(({ action_id: id }) => id === call.action_id)
  if (index < limit) return undefined
  return `Not run: this response has ${calls.length} tool calls, and at most ${limit} of one response run. Make the rest again in the next one, if they are still needed.`
}
