import { isJournalError } from '@delta/journal'
import { recordSkippedOf } from '../hook-protocol.js'
import { notifyHook } from '../hooks.js'
import { eraseSecrets } from '../human.js'
import {
  type Failure,
  failureBy,
  interrupted,
  type Outcome,
  type RunResult,
  recordedFailure,
  retryOf,
} from '../outcome.js'
import { type RunState, record } from '../run-state.js'
import { wasTold } from '../settle.js'
import { asRecordFailure } from './record-failure.js'
import { updateMetadata } from './update-metadata.js'

/** A run that is being stopped has this long for each of its `on_error` and `on_run_end` hooks. Milliseconds. */
const STOPPING_HOOK_MS = 1000

/**
 * Runs the loop and writes the run's end: of a failed run one `ERROR` and `on_error`, then `on_run_end` (never while waiting),
 * secrets erased, `ENGINE_END`, synced.
 * An error that ended the loop (a missing context source, say) makes the run `FAILED`. One from
 * writing the run's own files is rethrown instead, since a journal that cannot be written cannot record it.
 */
export async function finish(state: RunState, loop: () => Promise<Outcome>): Promise<RunResult> {
  const outcome = await loop().catch((error: unknown) => unexpected(state, error))
  if (outcome.status === 'FAILED') await reportFailure(state, outcome)
  if (outcome.status !== 'WAITING_FOR_INPUT') await endHook(state)
  if (outcome.status === 'COMPLETED' || outcome.status === 'FAILED') eraseSecrets(state.run.paths.secrets)

  const summary = state.run.summary()
  const ended = state.run.journal.append({
    type: 'ENGINE_END',
    run_id: state.run.runId,
    status: outcome.status,
    final_iteration: summary.lastIteration,
    usage: summary.usage,
    reason_code: outcome.reasonCode,
    ...('reason' in outcome ? { reason: outcome.reason } : {}),
    ...(state.warnings.size > 0 ? { warnings: [...state.warnings] } : {}),
  })
  state.run.journal.sync() // before anybody hears how it ended
  for (const event of ended) state.emit({ kind: 'journal', event })
  await updateMetadata(state.run, state.emit)
  return {
    ...(outcome.status === 'FAILED' ? failed(outcome) : outcome),
    runId: state.run.runId,
    runDirectory: state.run.directory,
    iterations: summary.lastIteration,
    usage: summary.usage,
  }
}

/** The rest of a failure is for its `ERROR` alone. */
function failed({ iteration: _iteration, details: _details, ...outcome }: Failure) {
  const needsMending = outcome.needsMending ?? retryOf(outcome.reasonCode)?.onceFixed
  return { ...outcome, ...(needsMending && ({ needsMending } as const)) }
}

/**
 * Journals the one `ERROR` of a failed run and calls `on_error` for it, unless the last engine did and was killed then. A
 * crash in between leaves the hook to the next engine.
 */
async function reportFailure(
  state: RunState,
  { iteration, reason, reasonCode, details }: Failure,
): Promise<void> {
  const summary = state.run.summary()
  const isRecorded = recordedFailure(summary) !== undefined
  if (!isRecorded) {
    record(state, {
      type: 'ERROR',
      iteration,
      error_message: reason,
      error_details: { reason_code: reasonCode, ...details },
      recoverable: false,
    })
  }
  await recordSkippedOf(state, iteration)
  if (isRecorded && summary.failure && (await wasTold(state, summary.failure))) return
  await notifyHook(state, 'on_error', { iteration, errorMessage: reason, lingerMs: STOPPING_HOOK_MS })
}

async function endHook(state: RunState): Promise<void> {
  const { lastIteration } = state.run.summary()
  await notifyHook(state, 'on_run_end', { iteration: lastIteration, lingerMs: STOPPING_HOOK_MS })
}

async function unexpected(state: RunState, thrown: unknown): Promise<Outcome> {
  const error = asRecordFailure(thrown, state.run)
  if (isJournalError(error)) throw error
  if (state.signal.aborted) return interrupted(state.signal)
  const { code, stack } = Object(error) as { code?: unknown; stack?: unknown }
  const message = error instanceof Error ? error.message : String(error)
  return failureBy({ message, code }, { iteration: presentIteration(state), details: { code, stack } })
}

/** The cycle whose calls are open, or else the one that has no thought yet. */
function presentIteration({ run }: RunState): number {
  const { lastIteration, pendingCalls } = run.summary()
  return pendingCalls.length > 0 ? lastIteration : lastIteration + 1
}
