import type { AssistantMessage, ChatRequest, ChatResponse } from '@delta/model'
import { type ActiveRun, record } from '../active-run.js'
import type { Step } from '../outcome.js'
import { readOutput } from './control.js'
import { stopAskedFor } from './notify.js'
import { type HookOutcome, runHook } from './run-hook.js'

/** `pre_llm_request`: the hook reads `proposed_payload.json` and may write `final_payload.json`, the request that is sent. */
export async function overrideRequest(
  run: ActiveRun,
  proposed: ChatRequest,
  iteration: number,
): Promise<Step<ChatRequest>> {
  const payload = { file: 'proposed_payload.json', data: () => JSON.stringify(proposed, null, 2) }
  const hook = await runHook(run, 'pre_llm_request', { iteration, payload })
  const stopped = stopAskedFor(hook)
  if (stopped) return { stopped }
  return { value: override(run, hook, { file: 'final_payload.json', isExpected: isRequest }) ?? proposed }
}

/** `post_llm_response`: the hook reads the assistant's message in `payload.dat` and may write `payload_override.dat`. */
export async function overrideResponse(
  run: ActiveRun,
  response: ChatResponse,
  iteration: number,
): Promise<Step<ChatResponse>> {
  const payload = { file: 'payload.dat', data: () => JSON.stringify(response.message, null, 2) }
  const hook = await runHook(run, 'post_llm_response', { iteration, payload })
  const stopped = stopAskedFor(hook)
  if (stopped) return { stopped }
  const message = override(run, hook, { file: 'payload_override.dat', isExpected: isAssistantMessage })
  return { value: message ? { ...response, message } : response }
}

/** What a hook wrote instead. What is no use is journaled for the agent and the person, and the baseline goes on. */
function override<T>(
  run: ActiveRun,
  hook: HookOutcome | undefined,
  { file, isExpected }: { file: string; isExpected: (value: unknown) => value is T },
): T | undefined {
  const text = hook?.succeeded ? readOutput(hook.directory, file) : undefined
  if (hook === undefined || text === undefined) return undefined
  const value = parseJson(text)
  if (isExpected(value)) return value
  const content = `The ${hook.name} hook's output/${file} is not what was asked for; the original was used.`
  record(run, { type: 'SYSTEM_MESSAGE', iteration: hook.iteration, level: 'WARN', content })
  return undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // reported by the caller together with JSON of the wrong shape
  }
}

function isRequest(value: unknown): value is ChatRequest {
  return typeof value === 'object' && value !== null && Array.isArray((value as ChatRequest).messages)
}

function isAssistantMessage(value: unknown): value is AssistantMessage {
  return typeof value === 'object' && value !== null && (value as AssistantMessage).role === 'assistant'
}
