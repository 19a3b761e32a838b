import type { RunResult } from '@delta/engine'
import { isWithinRun } from '../agent/within-run.js'
import type { Presenter } from '../present/presenter.js'
import { StoppedError, stopSignal } from '../terminal/stop-signal.js'
import { EXIT, SIGNAL_EXIT, type Terminal } from '../terminal/terminal.js'

/** Runs `work`; a first Ctrl+C (or SIGTERM, SIGHUP) stops it cleanly, and a second one at once. */
export async function withStopSignal<T>(
  terminal: Terminal,
  presenter: Presenter,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using stop = stopSignal(terminal, {
    onFirst(name) {
      if (isWithinRun(terminal)) return // its caller stops it, and only a model would read this
      presenter.warn(`${name}: stopping; once more to stop at once.`)
    },
    onExit: () => presenter.leaveRun(),
  })
  try {
    return await work(stop.signal)
  } catch (error) {
    throw stop.signal.aborted && isBusy(error)
      ? new StoppedError(stop.signal, error, 'The run was not taken, and nothing was changed.')
      : error
  }
}

/** The signal ended the wait for the run's owner, so all that is known is that there is one. */
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
