import type { AssistantMessage, ChatRequest, ChatResponse } from '@delta/model'
import { type ActiveRun, record } from '../active-run.js'
import type { Outcome } from '../outcome.js'
import { readOutput } from './control.js'
import { stopAskedFor } from './notify.js'
import { runHook } from './run-hook.js'

/** `pre_llm_request`: the hook reads `proposed_payload.json` and may write `final_payload.json`, the request that is sent. */
export async function overrideRequest(
  run: ActiveRun,
  proposed: ChatRequest,
  iteration: number,
): Promise<ChatRequest | Outcome> {
  const payload = { file: 'proposed_payload.json', data: JSON.stringify(proposed, null, 2) }
  const hook = await runHook(run, 'pre_llm_request', { iteration, payload })
  const stopped = stopAskedFor(hook)
  if (stopped) return stopped
  if (!hook?.succeeded) return proposed
  const text = readOutput(hook.directory, 'final_payload.json')
  return text === undefined ? proposed : (accepted(run, text, isRequest, 'final_payload.json', iteration) ?? proposed)
}

/** `post_llm_response`: the hook reads the assistant's message in `payload.dat` and may write `payload_override.dat`. */
export async function overrideResponse(
  run: ActiveRun,
  response: ChatResponse,
  iteration: number,
): Promise<ChatResponse | Outcome> {
  const payload = { file: 'payload.dat', data: JSON.stringify(response.message, null, 2) }
  const hook = await runHook(run, 'post_llm_response', { iteration, payload })
  const stopped = stopAskedFor(hook)
  if (stopped) return stopped
  if (!hook?.succeeded) return response
  const text = readOutput(hook.directory, 'payload_override.dat')
  if (text === undefined) return response
  const message = accepted(run, text, isAssistantMessage, 'payload_override.dat', iteration)
  return message ? { ...response, message } : response
}

/** Parses what a hook wrote. What is no use is journaled for the agent and the person, and the baseline goes on. */
function accepted<T>(
  run: ActiveRun,
  text: string,
  isExpected: (value: unknown) => value is T,
  file: string,
  iteration: number,
): T | undefined {
  const value = parseJson(text)
  if (isExpected(value)) return value
  const content = `A hook's output/${file} is not what was asked for; the original was used.`
  record(run, { type: 'SYSTEM_MESSAGE', iteration, level: 'WARN', content })
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
