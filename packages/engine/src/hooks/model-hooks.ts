import type { AssistantMessage, ChatRequest, ChatResponse } from '@delta/model'
import { type ActiveRun, record } from '../active-run.js'
import type { Step } from '../outcome.js'
import { readOutput } from './control.js'
import type { Replacement } from './hook-input.js'
import { stopAskedFor } from './notify.js'
import { type HookOutcome, runHook } from './run-hook.js'

/** `pre_llm_request`: the hook reads `proposed_payload.json` and may write `final_payload.json`, the request that is sent. */
export async function overrideRequest(
  run: ActiveRun,
  proposed: ChatRequest,
  iteration: number,
): Promise<Step<ChatRequest>> {
  const payload = { file: 'proposed_payload.json', data: () => JSON.stringify(proposed, null, 2) }
  const hook = await runHook(run, 'pre_llm_request', { iteration, payload, replacement: REQUEST })
  const stopped = stopAskedFor(hook)
  if (stopped) return { stopped }
  return { value: replacementIn(run, hook, REQUEST) ?? proposed }
}

/** `post_llm_response`: the hook reads the assistant's message in `payload.dat` and may write `payload_override.dat`. */
export async function overrideResponse(
  run: ActiveRun,
  response: ChatResponse,
  iteration: number,
): Promise<Step<ChatResponse>> {
  const payload = { file: 'payload.dat', data: () => JSON.stringify(response.message, null, 2) }
  const hook = await runHook(run, 'post_llm_response', { iteration, payload, replacement: MESSAGE })
  const stopped = stopAskedFor(hook)
  if (stopped) return { stopped }
  const message = replacementIn(run, hook, MESSAGE)
  return { value: message ? { ...response, message } : response }
}

/** What a hook may write in place of what it was given. */
interface Expected<T> extends Replacement {
  is: (value: unknown) => value is T
}

const REQUEST = expected('final_payload.json', isRequest, 'is no request: it has no list "messages"')
const MESSAGE = expected(
  'payload_override.dat',
  isAssistantMessage,
  'is no message of the model: its "role" is not "assistant"',
)

function expected<T>(file: string, is: Expected<T>['is'], otherwise: string): Expected<T> {
  const problemOf = (text: string): string | undefined => {
    const value = parseJson(text)
    if (is(value)) return undefined
    return `wrote an output/${file} that ${value === undefined ? 'is not JSON' : otherwise}`
  }
  return { file, is, problemOf }
}

/** What a hook wrote instead. What is no use is journaled for the agent and the person, and the baseline goes on. */
function replacementIn<T>(
  run: ActiveRun,
  hook: HookOutcome | undefined,
  { file, is }: Expected<T>,
): T | undefined {
  if (hook?.rejected) {
    const content = `The ${hook.failure}; the original was used.`
    record(run, { type: 'SYSTEM_MESSAGE', iteration: hook.iteration, level: 'WARN', content })
  }
  const text = hook?.succeeded ? readOutput(hook.directory, file) : undefined
  const value = text === undefined ? undefined : parseJson(text)
  return is(value) ? value : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // a problem of its own
  }
}

function isRequest(value: unknown): value is ChatRequest {
  return typeof value === 'object' && value !== null && Array.isArray((value as ChatRequest).messages)
}

function isAssistantMessage(value: unknown): value is AssistantMessage {
  return typeof value === 'object' && value !== null && (value as AssistantMessage).role === 'assistant'
}
