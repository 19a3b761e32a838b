import type { ChatRequest, ChatResponse } from '@delta/model'
import { type Expected, type HookOutcome, MESSAGE, REQUEST, readOutput } from '../hook-output.js'
import { runHook } from '../hook-protocol.js'
import type { Step } from '../outcome.js'
import { type RunState, record } from '../run-state.js'
import { stopAskedFor } from './notify.js'

/**
 * `pre_llm_request`: the hook reads `proposed_payload.json` and may write `final_payload.json` or, by the name that all hooks
 * share, `payload_override.dat`: the request that is sent. If it fails, the agent is told.
 */
export async function overrideRequest(
  state: RunState,
  proposed: ChatRequest,
  iteration: number,
): Promise<Step<ChatRequest>> {
  const payload = { file: 'proposed_payload.json', data: () => JSON.stringify(proposed, null, 2) }
  const hook = await runHook(state, 'pre_llm_request', { iteration, payload, replacement: REQUEST })
  const stopped = stopAskedFor(hook)
  if (stopped) return { stopped }
  if (!hook?.failure) return { value: replacementOf(hook, REQUEST) ?? proposed }
  if (!state.signal.aborted)
    warn(state, iteration, 'pre_llm_request hook failed, proceeding with baseline context.')
  return { value: proposed }
}

/**
 * `post_llm_response`: the hook reads the assistant's message in `payload.dat` and may write `payload_override.dat`. If that is
 * unusable, the agent is told, and the original is used.
 */
export async function overrideResponse(
  state: RunState,
  response: ChatResponse,
  iteration: number,
): Promise<Step<ChatResponse>> {
  const payload = { file: 'payload.dat', data: () => JSON.stringify(response.message, null, 2) }
  const hook = await runHook(state, 'post_llm_response', { iteration, payload, replacement: MESSAGE })
  const stopped = stopAskedFor(hook)
  if (stopped) return { stopped }
  if (hook?.failure?.isReplacement)
    warn(state, iteration, `The ${hook.failure.message}; the original was used.`)
  const message = replacementOf(hook, MESSAGE)
  return { value: message ? withMessage(response, message) : response }
}

/** Where the hook took the calls away, the server's reason to stop, which announces them, says nothing of what is left. */
function withMessage(response: ChatResponse, message: ChatResponse['message']): ChatResponse {
  const { finishReason: _, ...withoutReason } = response
  const had = response.message.tool_calls?.length ?? 0
  const isWithoutCalls = had > 0 && !message.tool_calls?.length
  return isWithoutCalls ? { ...withoutReason, message } : { ...response, message }
}

function warn(state: RunState, iteration: number, content: string): void {
  record(state, { type: 'SYSTEM_MESSAGE', iteration, level: 'WARN', content })
}

/** What a hook that succeeded wrote instead. */
function replacementOf<T>(hook: HookOutcome | undefined, expected: Expected<T>): T | undefined {
  const text = hook && !hook.failure ? readOutput(hook.directory, expected).text : undefined
  return text === undefined ? undefined : expected.read(text)
}
