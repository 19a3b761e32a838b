import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Agent } from '@delta/config-loader'
import { type BuiltContext, buildContext } from '@delta/context'
import { bytesOfMedia, jsonOf } from '@delta/context/internal'
import { recordProcess } from '@delta/executor'
import type { NewEventOf } from '@delta/journal'
import type { InvocationRecord, Thought } from '@delta/journal/runs'
import {
  type AssistantMessage,
  type ChatRequest,
  type ChatResponse,
  type ModelDelta,
  type ModelError,
  retryDelayMs,
} from '@delta/model'
import { asModelError, LLM_DEFAULTS } from '@delta/model/internal'
import { notifyHook, overrideRequest, overrideResponse } from './hooks.js'
import { failureBy, interrupted, type OrStopped, type Outcome } from './outcome.js'
import { invocationFor, requestFor } from './request.js'
import {
  type Call,
  environmentOf,
  generatorRecordPath,
  type PaidFields,
  type RunState,
  record,
  variablesOf,
  warnAuthor,
} from './run-state.js'

/**
 * One thought: builds the context from the journal, sends the request and journals the response.
 *
 * The request is on disk before it is sent. A model that cannot be reached ends the run as `FAILED`.
 */
export async function think(state: RunState, iteration: number): Promise<OrStopped<NewEventOf<Thought>>> {
  state.run.journal.sync() // before a generator starts; the request needs it anyway
  if (startsCommands(state.agent.manifest)) await state.snapshots?.beforeCommand()
  const context = await buildContext(state.agent.manifest, {
    journalPath: state.conversation,
    variables: state.replay?.variables ?? { ...variablesOf(state), AGENT_HOME: state.agent.home },
    recorded: state.replay?.sources(iteration),
    env: environmentOf(state),
    credentials: state.credentials,
    iteration,
    task: state.run.history.userMessages.join('\n'),
    tools: state.tools,
    signal: state.signal,
    onSpawn: ({ pid }) => recordProcess(generatorRecordPath(state), pid),
    calibration: state.run.history.lastCount,
    writeBlob: (bytes) => state.run.blobs.write(bytes),
  })
  for (const message of context.warnings) warnAuthor(state, message)

  const built = requestFor(state.agent, { messages: context.messages, tools: state.tools })
  const request = await overrideRequest(state, built, iteration)
  if ('stopped' in request) return request

  state.replay?.reach('request', iteration)
  const isRewritten = request.value !== built
  const asked = await askModel(state, request.value, { iteration, context, isRewritten })
  if ('stopped' in asked) return asked

  if (state.agent.hooks.post_llm_response) state.clock.resumeForHook(asked.value.response.waitedMs)
  const response = await overrideResponse(state, asked.value.response, iteration)
  if ('stopped' in response) return response
  if (state.signal.aborted) return { stopped: interrupted(state.signal) }
  state.replay?.reach('thought', iteration)
  const paid = await state.priceAnswer(response.value)
  const value = journalThought(state, { ...asked.value, response: response.value, paid }, iteration)
  state.clock.resume()
  return { value }
}

/** A generator may change files, and so may a token counter. */
function startsCommands({ sources, tokenCounter }: Agent['manifest']): boolean {
  return tokenCounter !== undefined || sources.some(({ type }) => type === 'computed_file')
}

function journalThought(
  state: RunState,
  { response, ref, requestBytes, paid }: Exchange & { paid: PaidFields },
  iteration: number,
): NewEventOf<Thought> {
  const { message, finishReason } = response
  const thought: NewEventOf<Thought> = {
    type: 'THOUGHT',
    iteration,
    content: message.content ?? '',
    tool_calls: callsOf(state, message, iteration),
    llm_invocation_ref: ref,
    request_bytes: requestBytes,
    ...(finishReason === undefined ? {} : { finish_reason: finishReason }),
    ...paid,
    ...(holdsMore(message) ? { message } : {}),
  }
  record(state, thought)
  return thought
}

function callsOf(state: RunState, message: AssistantMessage, iteration: number): Call[] {
  const { actionIds } = state.run.history
  const taken = new Set<string>()
  return (message.tool_calls ?? []).map((call, index) => {
    const isUsed = (id: string) => taken.has(id) || actionIds.has(id)
    const action_id = actionIdFor(call.id, { iteration, index, isUsed })
    taken.add(action_id)
    return { id: call.id, action_id, name: call.function.name, arguments: call.function.arguments }
  })
}

/** True when the message has reasoning, signatures or other provider fields, which must go back unchanged. */
function holdsMore({ role: _role, content: _content, tool_calls: calls = [], ...fields }: AssistantMessage) {
  const onCalls = calls.flatMap(({ id: _id, type: _type, function: _function, ...more }) =>
    Object.values(more),
  )
  return [...Object.values(fields), ...onCalls].some((value) => value !== null && value !== undefined)
}

/** The model's response, and its request. */
interface Exchange {
  response: ChatResponse
  /** The invocation record, relative to the run's directory. */
  ref: string
  /** Length of the request's body. */
  requestBytes: number
}

/**
 * Sends the request, and sends it again after a temporary failure. Each failed attempt is an `ERROR` event with its number, the
 * status and the delay, so that a slow run explains itself; the last one ends the run.
 */
async function askModel(
  state: RunState,
  request: ChatRequest,
  { iteration, context, isRewritten }: { iteration: number; context: BuiltContext; isRewritten: boolean },
): Promise<OrStopped<Exchange>> {
  const { about, ...sent } = invocationFor(state.model, request, state.run.blobs.read)
  const invocation = state.run.requests.record({
    iteration,
    ...sent,
    blocks: context.blocks,
    about: isRewritten ? { ...about, rewritten_by: 'pre_llm_request' } : about,
    jsonOf,
  })
  for (const message of state.run.notices.splice(0)) state.emit({ kind: 'notice', message }) // the first record opens the log
  const { retry, maxAttempts } = state.agent.llm
  const attempts = maxAttempts ?? (retry === undefined ? LLM_DEFAULTS.maxAttempts : Number.POSITIVE_INFINITY)
  let firstFailure: number | undefined
  for (let attempt = 1; ; attempt++) {
    state.run.journal.sync()
    state.clock.pause()
    try {
      const response = await complete(state, request, invocation, iteration)
      return { value: { response, ref: invocation.ref, requestBytes: bytesOf(invocation, request) } }
    } catch (error) {
      if (state.signal.aborted) return { stopped: interrupted(state.signal) }
      firstFailure ??= performance.now()
      const waitedMs = Math.round(performance.now() - firstFailure)
      const delayMs = attempt < attempts ? retryDelayMs(attempt, error, { ...retry, waitedMs }) : undefined
      const stopped = await afterFailure(state, error, { iteration, attempt, delayMs, invocation, request })
      if (stopped) return { stopped }
    }
  }
}

/** Length of a request's body. */
function bytesOf({ bytesWithoutBlobs }: InvocationRecord, { messages }: ChatRequest): number {
  return bytesWithoutBlobs + bytesOfMedia(messages)
}

/** Reports a failed attempt, and waits for the next one. Resolves to an outcome when there is none. */
async function afterFailure(
  state: RunState,
  error: unknown,
  about: {
    iteration: number
    attempt: number
    delayMs: number | undefined
    invocation: InvocationRecord
    request: ChatRequest
  },
): Promise<Outcome | undefined> {
  const { iteration, attempt, delayMs, invocation, request } = about
  const known = asModelError(error)
  if (delayMs === undefined && !known) throw error
  const { code, message, status, usage, model } = known ?? (error as ModelError)
  invocation.complete({ error: { code, message, status } })
  const details = { code, status, attempt }
  const paid =
    usage === undefined
      ? {}
      : {
          tokens: null,
          request_bytes: bytesOf(invocation, request),
          ...(await state.priceAnswer({ usage, model })),
        }
  if (delayMs === undefined) return failureBy({ code, message }, { iteration, details, paid })
  const stopped = await reportRetry(state, message, { iteration, details, delayMs, paid })
  if (stopped) return stopped
  state.clock.resume() // the journal says how long the run waits now
  await wait(delayMs, undefined, { signal: state.signal }).catch(() => undefined) // the next line handles a stop
  return state.signal.aborted ? interrupted(state.signal) : state.overspent()
}

/** Resolves to an outcome when the `on_error` hook stops the run. */
async function reportRetry(
  state: RunState,
  message: string,
  {
    iteration,
    details,
    delayMs,
    paid,
  }: { iteration: number; details: object; delayMs: number; paid: Partial<PaidFields> },
): Promise<Outcome | undefined> {
  const isUndecided = state.agent.hooks.on_error !== undefined
  record(state, {
    type: 'ERROR',
    iteration,
    error_message: message,
    error_details: { ...details, delay_ms: delayMs, ...(isUndecided && { unless: 'on_error' }) },
    recoverable: true,
    ...paid,
  })
  return notifyHook(state, 'on_error', { iteration, errorMessage: message })
}

async function complete(
  state: RunState,
  request: ChatRequest,
  invocation: InvocationRecord,
  iteration: number,
): Promise<ChatResponse> {
  const started = performance.now()
  const asking = async () =>
    state.model.complete(request, {
      signal: state.signal,
      bytes: invocation.body,
      blobs: state.run.blobs.read,
      ...(state.stream ? { onDelta: (delta) => emitDelta(state, delta, iteration) } : {}),
    })
  const asked = untilStopped(asking, state.signal)
  state.snapshots?.begin(iteration - 1) // while the model works
  const response = await asked
  const durationMs = Math.round(performance.now() - started)
  const paid = { request_bytes: bytesOf(invocation, request), ...(await state.priceAnswer(response)) } // kept for a kill before its event
  invocation.complete({ response: response.raw, usage: response.usage, ...paid, duration_ms: durationMs })
  return response
}

/** A model of somebody's own may not heed the signal. Begins no work after a stop. */
async function untilStopped<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const done = new AbortController()
  // listens before the work begins, which may stop the run itself
  const stopped = once(signal, 'abort', { signal: done.signal }).then(() => signal.throwIfAborted())
  try {
    return await Promise.race([work(), stopped as Promise<never>])
  } finally {
    done.abort() // which rejects the loser, whom nobody awaits
  }
}

function emitDelta(state: RunState, { content, reasoning }: ModelDelta, iteration: number): void {
  if (reasoning) state.emit({ kind: 'reasoning', iteration, content: reasoning })
  if (content) state.emit({ kind: 'delta', iteration, content })
}

/** Kimi's ids are `functions.<name>:<count>`. Given other ids, it stops writing calls that its server can parse. */
const SAFE_ID = /^(?!\.)[A-Za-z0-9_.:-]{1,64}$/

/**
 * The journal's id of a tool call: the model's own if it is unused in this run and safe as a file name, otherwise
 * `<iteration>-<index>`. Some servers reuse their ids in every response.
 */
export function actionIdFor(
  id: string,
  { iteration, index, isUsed }: { iteration: number; index: number; isUsed(id: string): boolean },
): string {
  let chosen = SAFE_ID.test(id) && !isUsed(id) ? id : `${iteration}-${index}`
  while (isUsed(chosen)) chosen += '-'
  return chosen
}
