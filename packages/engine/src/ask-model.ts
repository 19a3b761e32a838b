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
import { type ActiveRun, record } from './active-run.js'
import { failureBy } from './failure.js'
import { notifyHook } from './hooks/notify.js'
import { interrupted, type Outcome, type Step } from './outcome.js'

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
  run: ActiveRun,
  request: ChatRequest,
  { iteration, context }: { iteration: number; context: BuiltContext },
): Promise<Step<Exchange>> {
  const isBuilt = request.messages === context.messages // not replaced by a hook
  const invocation = recordInvocation(run.run, {
    iteration,
    request,
    blocks: context.blocks,
    ...(isBuilt && { texts: context.texts }),
  })
  const { retry, maxAttempts } = run.agent.llm
  const attempts = maxAttempts ?? (retry === undefined ? LLM_DEFAULTS.maxAttempts : Number.POSITIVE_INFINITY)
  let firstFailure: bigint | undefined
  for (let attempt = 1; ; attempt++) {
    run.run.journal.sync()
    try {
      const response = await complete(run, request, invocation, iteration)
      return { value: { response, ref: invocation.ref, requestBytes: invocation.body.length } }
    } catch (error) {
      if (run.signal.aborted) return { stopped: interrupted(run.signal) }
      if (!isModelError(error)) throw error

      firstFailure ??= process.hrtime.bigint()
      const waitedMs = millisecondsSince(firstFailure)
      const delayMs = attempt < attempts ? retryDelayMs(attempt, error, { ...retry, waitedMs }) : undefined
      invocation.complete({ error: { code: error.code, message: error.message, status: error.status } })
      const details = { code: error.code, status: error.status, attempt }
      if (delayMs === undefined) return { stopped: failureBy(error, { iteration, details }) }
      const stopped = await reportRetry(run, error.message, { iteration, details, delayMs })
      if (stopped) return { stopped }
      await wait(delayMs, undefined, { signal: run.signal }).catch(() => undefined) // a stop is seen below
      if (run.signal.aborted) return { stopped: interrupted(run.signal) }
    }
  }
}

async function complete(
  run: ActiveRun,
  request: ChatRequest,
  invocation: InvocationRecord,
  iteration: number,
): Promise<ChatResponse> {
  const started = process.hrtime.bigint() // node loads all of perf_hooks for performance.now()
  const response = await run.model.complete(request, {
    signal: run.signal,
    body: invocation.body,
    ...(run.stream ? { onDelta: (delta) => emitDelta(run, delta, iteration) } : {}),
  })
  const durationMs = millisecondsSince(started)
  invocation.complete({ response: response.raw, usage: response.usage, duration_ms: durationMs })
  return response
}

function millisecondsSince(start: bigint): number {
  return Math.round(Number(process.hrtime.bigint() - start) / 1e6)
}

function emitDelta(run: ActiveRun, { content, reasoning }: ModelDelta, iteration: number): void {
  if (reasoning) run.emit({ kind: 'reasoning', iteration, content: reasoning })
  if (content) run.emit({ kind: 'delta', iteration, content })
}

/** Resolves to an outcome when the `on_error` hook asked for the run to stop. */
async function reportRetry(
  run: ActiveRun,
  message: string,
  { iteration, details, delayMs }: { iteration: number; details: object; delayMs: number },
): Promise<Outcome | undefined> {
  const isUndecided = run.agent.hooks.on_error !== undefined
  record(run, {
    type: 'ERROR',
    iteration,
    error_message: message,
    error_details: { ...details, delay_ms: delayMs, ...(isUndecided && { unless: 'on_error' }) },
    recoverable: true,
  })
  return notifyHook(run, 'on_error', { iteration, errorMessage: message })
}
