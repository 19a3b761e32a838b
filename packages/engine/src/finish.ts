import { isJournalError } from '@delta/journal'
import type { Run } from '@delta/journal/runs'
import { recordSkippedIn } from './hook-protocol.js'
import { notifyHook } from './hooks.js'
import {
  type Failure,
  type FinishedRun,
  failureBy,
  interrupted,
  type Outcome,
  recordedFailure,
} from './outcome.js'
import { recordLostAnswers } from './paid.js'
import { asRecordFailure } from './releasing.js'
import { type EngineEvent, type RunState, record } from './run-state.js'
import { eraseSecrets } from './secrets.js'
import { wasErrorHookRun } from './settle.js'

/** When a run is stopped, each `on_error` and `on_run_end` hook has this long. Milliseconds. */
const STOPPING_HOOK_MS = 1000

/**
 * Runs the loop and writes the run's end: for a failed run one `ERROR` and `on_error`, then `on_run_end` (not while waiting),
 * erased secrets, `ENGINE_END`, sync.
 * An error that ends the loop, such as a missing context source, makes the run `FAILED`. An error from writing the run's own
 * files is rethrown: a journal that cannot be written cannot record it.
 */
export async function finish(state: RunState, loop: () => Promise<Outcome>): Promise<FinishedRun> {
  const outcome = await loop().catch((error: unknown) => unexpected(state, error))
  if (state.replay?.sides.model !== 'recorded') await recordLostAnswers(state)
  if (outcome.status === 'FAILED') await reportFailure(state, outcome)
  if (outcome.status !== 'WAITING_FOR_INPUT') await endHook(state)
  await state.snapshots?.end(state.run.summary().lastIteration, {
    isStopped: outcome.status === 'INTERRUPTED',
  })
  if (outcome.status === 'COMPLETED' || outcome.status === 'FAILED') eraseSecrets(state.run.paths.secrets)

  const summary = state.run.summary()
  const ended = state.run.journal.append({
    type: 'ENGINE_END',
    run_id: state.run.runId,
    status: outcome.status,
    final_iteration: summary.lastIteration,
    usage: summary.usage,
    totals: { ...summary.totals },
    reason_code: outcome.reasonCode,
    ...('reason' in outcome ? { reason: outcome.reason } : {}),
    ...(state.warnings.size > 0 ? { warnings: [...state.warnings] } : {}),
    sha256: state.run.journal.sha256(),
  })
  state.run.journal.sync() // before the outcome is reported
  for (const event of ended) state.emit({ kind: 'journal', event })
  await updateMetadata(state.run, state.emit)
  // the iteration, the details and the cost of a failure belong to its ERROR event only
  const {
    iteration: _iteration,
    details: _details,
    paid: _paid,
    ...reported
  } = { iteration: 0, details: {}, paid: {}, ...outcome }
  return {
    ...reported,
    runId: state.run.runId,
    runDirectory: state.run.directory,
    iterations: summary.lastIteration,
    usage: summary.usage,
    totals: summary.totals,
    warnings: [...state.warnings],
  }
}

/**
 * Journals the one `ERROR` of a failed run and runs `on_error` for it, unless the last engine did so before it was killed.
 * After a crash in between, the next engine runs the hook.
 */
async function reportFailure(
  state: RunState,
  { iteration, reason, reasonCode, details, paid }: Failure,
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
      ...paid,
    })
  }
  await recordSkippedIn(state, iteration)
  if (isRecorded && summary.failure && (await wasErrorHookRun(state, summary.failure))) return
  await notifyHook(state, 'on_error', { iteration, errorMessage: reason, lingerMs: STOPPING_HOOK_MS })
}

async function endHook(state: RunState): Promise<void> {
  const { lastIteration } = state.run.summary()
  await notifyHook(state, 'on_run_end', { iteration: lastIteration, lingerMs: STOPPING_HOOK_MS })
}

async function unexpected(state: RunState, thrown: unknown): Promise<Outcome> {
  const error = asRecordFailure(thrown, state.run)
  if (isJournalError(error) && !error.code.startsWith('ERR_BLOB_')) throw error
  if (state.signal.aborted) return interrupted(state.signal)
  const { code, stack } = Object(error) as { code?: unknown; stack?: unknown }
  const message = error instanceof Error ? error.message : String(error)
  return failureBy({ message, code }, { iteration: currentIteration(state), details: { code, stack } })
}

/** The iteration with open tool calls, otherwise the one that has no thought yet. */
function currentIteration({ run }: RunState): number {
  const { lastIteration, pendingCalls } = run.summary()
  return pendingCalls.length > 0 ? lastIteration : lastIteration + 1
}

/** Replaces `metadata.json`. It only repeats the journal, so a failure to write it is a notice. */
export async function updateMetadata(run: Run, emit: (event: EngineEvent) => void): Promise<void> {
  try {
    await run.updateMetadata()
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_WRITE') throw error
    emit({
      kind: 'notice',
      message: `${error.path}: ${error.reason} The run does not depend on it: the journal holds the same facts.`,
    })
  }
}
