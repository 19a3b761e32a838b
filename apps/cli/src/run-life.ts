import type { RunResult } from '@delta/engine'
import { killRunningCommands } from '@delta/executor'
import type { RunPresenter } from './present/last-word.js'
import { stopSignal } from './stop-signal.js'
import { EXIT, SIGNAL_EXIT, type Terminal } from './terminal.js'
import { isWithinRun } from './within-run.js'

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
    onSecond: (exitCode) => {
      killRunningCommands()
      presenter.leave()
      terminal.exit(exitCode)
    },
  })
  return await work(stop.signal)
}

/** 0 only for a completed run. */
export function exitCodeFor(result: RunResult): number {
  switch (result.status) {
    case 'COMPLETED':
      return EXIT.completed
    case 'WAITING_FOR_INPUT':
      return EXIT.waiting
    case 'INTERRUPTED':
      return SIGNAL_EXIT[result.reason ?? ''] ?? EXIT.failed
    case 'FAILED':
      return EXIT.failed
    default:
      return result.status satisfies never
  }
}
