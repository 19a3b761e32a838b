import { type ChatRequest, type ChatResponse, isModelError, type ModelError, retryDelayMs } from '@delta/model'
import { type ActiveRun, record } from './active-run.js'
import { notifyHook } from './hooks/notify.js'
import { interrupted, type Step } from './outcome.js'

const DEFAULT_ATTEMPTS = 5

/**
 * Asks the model, again after failures that may pass. Each failed attempt is an `ERROR` event with the
 * attempt, the status and the delay, so that a slow run explains itself.
 */
export async function completeWithRetries(
  run: ActiveRun,
  request: ChatRequest,
  iteration: number,
): Promise<Step<ChatResponse>> {
  const attempts = run.agent.llm.maxAttempts ?? DEFAULT_ATTEMPTS
  for (let attempt = 1; ; attempt++) {
    try {
      const value = await run.model.complete(request, {
        signal: run.signal,
        ...(run.stream ? { onDelta: (delta) => emitDelta(run, delta) } : {}),
      })
      return { value }
    } catch (error) {
      if (run.signal.aborted) return { stopped: interrupted(run.signal) }
      if (!isModelError(error)) throw error

      const delayMs = error.retryable && attempt < attempts ? retryDelayMs(attempt, error) : undefined
      await recordFailure(run, error, { iteration, attempt, delayMs })
      if (delayMs === undefined) return { stopped: { status: 'FAILED', reason: error.message } }
      await waitFor(delayMs, run.signal)
      if (run.signal.aborted) return { stopped: interrupted(run.signal) }
    }
  }
}

function emitDelta(run: ActiveRun, delta: { content?: string }): void {
  if (delta.content) run.emit({ kind: 'delta', content: delta.content })
}

async function recordFailure(
  run: ActiveRun,
  error: ModelError,
  { iteration, attempt, delayMs }: { iteration: number; attempt: number; delayMs: number | undefined },
): Promise<void> {
  record(run, {
    type: 'ERROR',
    iteration,
    error_message: error.message,
    error_details: { code: error.code, status: error.status, attempt, delay_ms: delayMs },
    recoverable: delayMs !== undefined,
  })
  await notifyHook(run, 'on_error', { iteration, errorMessage: error.message })
}

/** Resolves after `ms`, or at once when the signal is aborted. */
function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
