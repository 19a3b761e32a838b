import type { HookName } from '@delta/config-loader'
import type { ToolResult } from '@delta/executor'
import type { ChatRequest, ChatResponse } from '@delta/model'
import { type HookOutcome, MESSAGE, OBSERVATION, REQUEST } from './hook-output.js'
import { type HookInput, runHook } from './hook-protocol.js'
import { interrupted, type OrStopped, type Outcome } from './outcome.js'
import { type Call, type ReadyCall, type RunState, record } from './run-state.js'

/** Runs a hook that replaces nothing. Resolves to an outcome when the hook stops the run. */
export async function notifyHook(
  state: RunState,
  name: HookName,
  input: HookInput,
): Promise<Outcome | undefined> {
  return stopAskedFor(await runHook(state, name, input))
}

/** The end of the run, when the hook's `control.json` asks for it. */
export function stopAskedFor(
  hook: Pick<HookOutcome, 'name' | 'control' | 'iteration'> | undefined,
): Outcome | undefined {
  if (hook?.control?.action !== 'stop') return undefined
  const { name, control, iteration } = hook
  return {
    status: 'FAILED',
    reasonCode: 'hook_stopped',
    reason: `${name} hook: ${control.reason}`,
    iteration,
  }
}

/**
 * `pre_llm_request`: the hook reads `proposed_payload.json` and may write the request to send, as `final_payload.json` or
 * `payload_override.dat`. If the hook fails, a `SYSTEM_MESSAGE` tells the agent.
 *
 * @returns The proposed request itself if the hook changed nothing in it.
 */
export async function overrideRequest(
  state: RunState,
  proposed: ChatRequest,
  iteration: number,
): Promise<OrStopped<ChatRequest>> {
  const payload = { file: 'proposed_payload.json', data: () => JSON.stringify(proposed, null, 2) }
  const hook = await runHook(state, 'pre_llm_request', { iteration, payload, replacement: REQUEST })
  if (!hook) return { value: proposed }
  const stopped = stopAskedFor(hook)
  if (stopped) return { stopped }
  const { failure, replacement } = hook
  if (failure && !state.signal.aborted)
    warn(state, iteration, 'pre_llm_request hook failed, proceeding with baseline context.')
  if (!replacement || JSON.stringify(replacement) === JSON.stringify(proposed)) return { value: proposed }
  return { value: replacement }
}

/**
 * `post_llm_response`: the hook reads the assistant's message in `payload.dat` and may write `payload_override.dat`. If that file
 * is invalid, the original message is used, and a `SYSTEM_MESSAGE` tells the agent.
 */
export async function overrideResponse(
  state: RunState,
  response: ChatResponse,
  iteration: number,
): Promise<OrStopped<ChatResponse>> {
  const payload = { file: 'payload.dat', data: () => JSON.stringify(response.message, null, 2) }
  const hook = await runHook(state, 'post_llm_response', { iteration, payload, replacement: MESSAGE })
  const stopped = stopAskedFor(hook)
  if (stopped) return { stopped }
  if (hook?.isOnlyUnusable) warn(state, iteration, `The ${hook.failure}; the original was used.`)
  return { value: hook?.replacement ? withMessage(response, hook.replacement) : response }
}

/**
 * Drops the provider's items when the hook changed text or calls, because the next request would send the original ones, and the
 * finish reason when it removed all calls, which it would still announce.
 */
function withMessage(response: ChatResponse, replacement: ChatResponse['message']): ChatResponse {
  if (wordsOf(replacement) === wordsOf(response.message)) return { ...response, message: replacement }
  const { items: _, ...message } = replacement
  const { finishReason: __, ...withoutReason } = response
  const isWithoutCalls = response.message.tool_calls?.length && !message.tool_calls?.length
  return { ...(isWithoutCalls ? withoutReason : response), message }
}

function wordsOf({ content, tool_calls }: ChatResponse['message']): string {
  return JSON.stringify([content, tool_calls])
}

function warn(state: RunState, iteration: number, content: string): void {
  record(state, { type: 'SYSTEM_MESSAGE', iteration, level: 'WARN', content })
}

/** When the run is stopped, `post_tool_execution` has this long for a result. Milliseconds. */
const LAST_LOOK_MS = 500

/**
 * `pre_tool_execution`: may skip the call or stop the run. A guard that fails blocks the call: its crash must not allow it.
 * A guard that ends because the run is being stopped has not decided: the call is left to the next engine.
 *
 * @returns What the model reads instead of a result, or the end of the run; undefined when the call may run.
 */
export async function guardCall(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  iteration: number,
): Promise<Outcome | string | undefined> {
  const data = () =>
    JSON.stringify({ tool_name: call.name, tool_args: prepared.args, argv: prepared.argv }, null, 2)
  const about = { iteration, actionId: call.action_id, toolName: call.name }
  const hook = await runHook(state, 'pre_tool_execution', {
    ...about,
    payload: { file: 'payload.dat', data },
  })
  const stopped = stopAskedFor(hook)
  if (stopped) return stopped
  if (hook?.control?.action === 'skip') return hook.control.observation
  if (!hook?.failure) return undefined
  if (state.signal.aborted) return interrupted(state.signal)
  return `The call was not run, because the ${hook.failure.replace(/\.$/, '')}.`
}

/** `post_tool_execution`: sees the result and may replace what the model reads; the `ACTION_RESULT` is unchanged. */
export async function reportResult(
  state: RunState,
  call: Pick<Call, 'action_id' | 'name'>,
  result: Pick<ToolResult, 'observation'>,
  iteration: number,
): Promise<Outcome | undefined> {
  const hook = await runHook(state, 'post_tool_execution', {
    iteration,
    actionId: call.action_id,
    toolName: call.name,
    toolResult: result.observation,
    lingerMs: LAST_LOOK_MS,
    payload: { file: 'payload.dat', data: () => result.observation },
    replacement: OBSERVATION,
  })
  return stopAskedFor(hook)
}
