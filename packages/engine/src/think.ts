import { buildContext } from '@delta/context'
import type { NewEventOf, Thought } from '@delta/journal'
import type { AssistantMessage } from '@delta/model'
import { askModel, type Exchange } from './ask-model.js'
import { actionIdFor } from './calls/action-id.js'
import { overrideRequest, overrideResponse } from './hooks/model-hooks.js'
import { noteGenerator } from './orphaned-generator.js'
import { interrupted, type Step } from './outcome.js'
import { requestFor } from './request.js'
import { type Call, type RunState, record, variablesOf } from './run-state.js'

/**
 * One thought: builds the context from the journal, asks the model and journals what it said.
 *
 * The request is on disk before it leaves. A model that cannot be reached ends the run as `FAILED`.
 */
export async function think(state: RunState, iteration: number): Promise<Step<NewEventOf<Thought>>> {
  state.run.journal.sync() // before a generator may start; the request needs it anyway
  const context = await buildContext(state.agent.manifest, {
    journalPath: state.conversation,
    variables: variablesOf(state),
    environment: state.environment,
    credentials: state.credentials,
    iteration,
    task: state.task,
    signal: state.signal,
    onSpawn: ({ pid }) => noteGenerator(state, pid),
    ...state.lastCount,
  })
  for (const message of context.warnings) state.emit({ kind: 'notice', message })

  const request = await overrideRequest(state, requestFor(state.agent, context.messages), iteration)
  if ('stopped' in request) return request

  const asked = await askModel(state, request.value, { iteration, context })
  if ('stopped' in asked) return asked

  const response = await overrideResponse(state, asked.value.response, iteration)
  if ('stopped' in response) return response
  if (state.signal.aborted) return { stopped: interrupted(state.signal) }
  return { value: journalThought(state, { ...asked.value, response: response.value }, iteration) }
}

function journalThought(
  state: RunState,
  { response, ref, requestBytes }: Exchange,
  iteration: number,
): NewEventOf<Thought> {
  const { message, usage, finishReason } = response
  const thought: NewEventOf<Thought> = {
    type: 'THOUGHT',
    iteration,
    content: message.content ?? '',
    tool_calls: callsOf(state, message, iteration),
    llm_invocation_ref: ref,
    request_bytes: requestBytes,
    ...(finishReason === undefined ? {} : { finish_reason: finishReason }),
    ...(usage ? { usage } : {}),
    ...(holdsMore(message) ? { message } : {}),
  }
  record(state, thought)
  if (usage) state.lastCount.calibration = { tokens: usage.prompt_tokens, bytes: requestBytes }
  return thought
}

function callsOf(state: RunState, message: AssistantMessage, iteration: number): Call[] {
  return (message.tool_calls ?? []).map((call, index) => ({
    id: call.id,
    action_id: actionIdFor(call.id, { iteration, index, used: state.usedActionIds }),
    name: call.function.name,
    arguments: call.function.arguments,
  }))
}

/** Reasoning, the signature on a call and other provider fields must go back exactly as they came. */
function holdsMore({ role: _role, content: _content, tool_calls: calls = [], ...fields }: AssistantMessage) {
  const onCalls = calls.flatMap(({ id: _id, type: _type, function: _function, ...more }) =>
    Object.values(more),
  )
  return [...Object.values(fields), ...onCalls].some((value) => value !== null && value !== undefined)
}
