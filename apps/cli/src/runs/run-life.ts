import type { RunResult } from '@delta/engine'
import { isWithinRun } from '../agent/within-run.js'
import type { RunPresenter } from '../present/last-word.js'
import { StoppedError, stopSignal } from '../terminal/stop-signal.js'
import { EXIT, SIGNAL_EXIT, type Terminal } from '../terminal/terminal.js'

/** Does something that a first Ctrl+C (or SIGTERM, SIGHUP) stops in order, and a second one at once. */
export async function withStopSignal<T>(
  terminal: Terminal,
  presenter: RunPresenter,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using stop = stopSignal(terminal, {
    onFirst(name) {
      if (isWithinRun(terminal)) return // its caller stops it, and nobody reads this but a model
      presenter.warn(`${name}: stopping; once more to stop at once.`)
    },
    lastWord: () => presenter.leave(),
  })
  try {
    return await work(stop.signal)
  } catch (error) {
    throw stop.signal.aborted && isBusy(error)
      ? new StoppedError(stop.signal, error, 'The run was not taken, and nothing was changed.')
      : error
  }
}

/** A wait for the run's owner that is ended by a signal has found out no more than that there is one. */
function isBusy(error: unknown): boolean {
  return Object(error).code === 'ERR_RUN_BUSY'
}

/** 0 only for a completed run. */
export function exitCodeFor(result: RunResult): number {
  switch (result.status) {
    case 'COMPLETED':
      return EXIT.completed
    case 'WAITING_FOR_INPUT':
      return EXIT.waiting
    case 'INTERRUPTED':
      return SIGNAL_EXIT[result.reason] ?? EXIT.failed
    case 'FAILED':
      return EXIT.failed
    default:
      return result satisfies never
  }
}
