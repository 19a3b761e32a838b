import { setTimeout as wait } from 'node:timers/promises'
import type { BuiltContext } from '@delta/context'
import { type InvocationRecord, recordInvocation } from '@delta/journal'
import {
  type ChatRequest,
  type ChatResponse,
  isModelError,
  LLM_DEFAULTS,
  type ModelDelta,
  retryDelayMs,
} from '@delta/model'
import { notifyHook } from './hooks/notify.js'
import { failureBy, interrupted, type Outcome, type Step } from './outcome.js'
import { type RunState, record } from './run-state.js'

/** The model's answer, and the request that it answers. */
export interface Exchange {
  response: ChatResponse
  /** The invocation record, relative to the run's directory. */
  ref: string
  /** Length of the request's body. */
  requestBytes: number
}

/**
 * Asks the model, and asks again after a failure that may pass. The request is on disk before it is sent. Each failed attempt is an
 * `ERROR` event with its number, the status and the delay, so that a slow run explains itself; the last one ends the run.
 */
export async function askModel(
  state: RunState,
  request: ChatRequest,
  { iteration, context }: { iteration: number; context: BuiltContext },
): Promise<Step<Exchange>> {
  const isBuilt = request.messages === context.messages // not replaced by a hook
  const invocation = recordInvocation(state.run, {
    iteration,
    request,
    blocks: context.blocks,
    ...(isBuilt && { texts: context.texts }),
  })
  const { retry, maxAttempts } = state.agent.llm
  const attempts = maxAttempts ?? (retry === undefined ? LLM_DEFAULTS.maxAttempts : Number.POSITIVE_INFINITY)
  let firstFailure: bigint | undefined
  for (let attempt = 1; ; attempt++) {
    state.run.journal.sync()
    try {
      const response = await complete(state, request, invocation, iteration)
      return { value: { response, ref: invocation.ref, requestBytes: invocation.body.length } }
    } catch (error) {
      if (state.signal.aborted) return { stopped: interrupted(state.signal) }
      if (!isModelError(error)) throw error

      firstFailure ??= process.hrtime.bigint()
      const waitedMs = millisecondsSince(firstFailure)
      const delayMs = attempt < attempts ? retryDelayMs(attempt, error, { ...retry, waitedMs }) : undefined
      invocation.complete({ error: { code: error.code, message: error.message, status: error.status } })
      const details = { code: error.code, status: error.status, attempt }
      if (delayMs === undefined) return { stopped: failureBy(error, { iteration, details }) }
      const stopped = await reportRetry(state, error.message, { iteration, details, delayMs })
      if (stopped) return { stopped }
      await wait(delayMs, undefined, { signal: state.signal }).catch(() => undefined) // a stop is seen below
      if (state.signal.aborted) return { stopped: interrupted(state.signal) }
    }
  }
}

async function complete(
  state: RunState,
  request: ChatRequest,
  invocation: InvocationRecord,
  iteration: number,
): Promise<ChatResponse> {
  const started = process.hrtime.bigint() // node loads all of perf_hooks for performance.now()
  const response = await state.model.complete(request, {
    signal: state.signal,
    body: invocation.body,
    ...(state.stream ? { onDelta: (delta) => emitDelta(state, delta, iteration) } : {}),
  })
  const durationMs = millisecondsSince(started)
  invocation.complete({ response: response.raw, usage: response.usage, duration_ms: durationMs })
  return response
}

function millisecondsSince(start: bigint): number {
  return Math.round(Number(process.hrtime.bigint() - start) / 1e6)
}

function emitDelta(state: RunState, { content, reasoning }: ModelDelta, iteration: number): void {
  if (reasoning) state.emit({ kind: 'reasoning', iteration, content: reasoning })
  if (content) state.emit({ kind: 'delta', iteration, content })
}

/** Resolves to an outcome when the `on_error` hook asked for the run to stop. */
async function reportRetry(
  state: RunState,
  message: string,
  { iteration, details, delayMs }: { iteration: number; details: object; delayMs: number },
): Promise<Outcome | undefined> {
  const isUndecided = state.agent.hooks.on_error !== undefined
  record(state, {
    type: 'ERROR',
    iteration,
    error_message: message,
    error_details: { ...details, delay_ms: delayMs, ...(isUndecided && { unless: 'on_error' }) },
    recoverable: true,
  })
  return notifyHook(state, 'on_error', { iteration, errorMessage: message })
}
