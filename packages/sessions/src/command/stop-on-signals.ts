import { killRunningCommands } from '@delta/executor/command'
import type { Terminal } from './terminal.js'

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** What signals want of a command that is running. */
export interface Stop {
  /** Aborted by the first one. */
  signal: AbortSignal
  /** Of the first one; undefined as long as none has come. */
  exitCode(): number | undefined
  /** Listens no more. */
  end(): void
}

/** The first signal stops in order; a second one waits for nobody, and kills what runs. */
export function stopOnSignals(terminal: Terminal): Stop {
  const stop = new AbortController()
  let exitCode: number | undefined
  const listeners = Object.entries(EXIT_CODES).map(([name, code]) => {
    const signal = name as NodeJS.Signals
    const listener = () => {
      terminal.once?.(signal, listener) // first, or a signal that follows closely finds nobody listening
      if (exitCode !== undefined) killRunningCommands()
      exitCode ??= code
      stop.abort()
    }
    terminal.once?.(signal, listener)
    return { signal, listener }
  })
  return {
    signal: stop.signal,
    exitCode: () => exitCode,
    end() {
      for (const { signal, listener } of listeners) terminal.off?.(signal, listener)
    },
  }
}
