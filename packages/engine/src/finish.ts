import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { isJournalError, JournalError } from '@delta/journal'
import { asWriteError } from '@delta/journal/internal'
import type { Run } from '@delta/journal/runs'
import { ASK_HUMAN, eraseSecrets } from './ask-human.js'
import { recordSkippedOf } from './hook-protocol.js'
import { notifyHook } from './hooks.js'
import {
  type Failure,
  failureBy,
  interrupted,
  type Outcome,
  type RunResult,
  recordedFailure,
} from './outcome.js'
import { type EngineEvent, type RunState, record } from './run-state.js'
import { wasTold } from './settle.js'

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
  // the iteration and the details of a failure are for its ERROR alone
  const { iteration: _iteration, details: _details, ...told } = { iteration: 0, details: {}, ...outcome }
  return {
    ...told,
    runId: state.run.runId,
    runDirectory: state.run.directory,
    iterations: summary.lastIteration,
    usage: summary.usage,
  }
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

/**
 * Turns a system error from writing the run's own directory into a `JournalError`; returns any other error as it is. Such a
 * run has not failed: it can go on from what is recorded once the directory can be written again.
 */
export function asRecordFailure(error: unknown, run: Run): unknown {
  const { code = '', path, syscall } = Object(error) as NodeJS.ErrnoException
  if (isJournalError(error) || syscall === undefined) return error
  const isOurs = path === undefined ? DISK_CODES.has(code) : path.startsWith(run.directory)
  // a missing file is none of its records, unless a directory of the run was deleted or moved meanwhile
  const isMissing = code === 'ENOENT' && path !== undefined && !isGone(dirname(path))
  return isOurs && !isMissing ? asWriteError(error, path ?? run.directory) : error
}

/** The disk takes no more data. */
const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'])

/** Adds to a write error which results were lost and the command that continues the run; or says that the run is gone. */
function withWayOn(error: unknown, run: Run): unknown {
  if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_WRITE') return error
  const { code, message, path, cause } = error
  // deleted, perhaps by a command of the agent, or moved: advice on permissions would not help
  if (isGone(run.directory)) return new JournalError(code, `${run.directory}: ${GONE}`, { path, cause })
  if (isGone(run.paths.journal)) return error // there is nothing to go on with
  const started = run.summary().pendingCalls.filter(({ name, requested }) => requested && name !== ASK_HUMAN)
  const lost = started.map(
    ({ name }) => `The result of "${name}" was not recorded: it may have taken effect.`,
  )
  return new JournalError(code, [message, ...lost].join('\n'), { path, wayOut: 'continue', cause })
}

const GONE = `The run can no longer be recorded: its directory is gone.
It, or its whole workspace, was deleted or moved during the run. If it was moved, put it back and continue the run; a deleted run cannot be continued.`

/** False for a path that merely cannot be reached for want of permission. */
function isGone(path: string): boolean {
  try {
    lstatSync(path)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/**
 * Works on a run that this process owns, and releases it whatever happens. A write error is rethrown with advice on how to
 * continue.
 */
export async function releasing<T>(run: Run, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw withWayOn(asRecordFailure(error, run), run)
  } finally {
    run.close()
  }
}

/** Replaces `metadata.json`. It only repeats what the journal says, so a failure to write it is just reported. */
export async function updateMetadata(run: Run, emit: (event: EngineEvent) => void): Promise<void> {
  try {
    await run.updateMetadata()
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_WRITE') throw error
    const [why = ''] = error.message.split('\n')
    emit({
      kind: 'notice',
      message: `${why} The run does not depend on it: the journal holds the same facts.`,
    })
  }
}
