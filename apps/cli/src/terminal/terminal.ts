import type { EventEmitter } from 'node:events'
import { killRunningCommands } from '@delta/executor'

/** Everything a command sees of the outside world, so that a test can replace it. */
export interface Terminal {
  /** Arguments after the program's name. */
  argv: string[]
  env: NodeJS.ProcessEnv
  /** Absolute path. */
  cwd: string
  stdin: NodeJS.ReadStream
  /** Results only. */
  stdout: NodeJS.WriteStream
  /** Everything else: progress, notices, errors. */
  stderr: NodeJS.WriteStream
  /** Emits SIGINT, SIGTERM and SIGHUP; `uncaughtExceptionMonitor` and `exit`, as a process does. */
  signals: EventEmitter
  /** Ends the process at once; only for a second Ctrl+C. */
  exit(exitCode: number): void
}

export const EXIT = { completed: 0, failed: 1, usage: 2, busy: 6, waiting: 101 } as const

/** Exit codes of a run that a signal stopped, by the signal's name. */
export const SIGNAL_EXIT: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }

/**
 * True when a tool, hook or generator of a run started this process: its command line and its stdin may then come from a
 * model, and a model must not approve commands.
 */
export function isWithinRun({ env }: Terminal): boolean {
  return env.DELTA_PARENT_RUN !== undefined
}

/** The command was ended by a signal before it had a result. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError'
  readonly code = 'ERR_CLI_STOPPED'
  readonly signal: string

  /** @param consequence - A sentence about the effect. */
  constructor({ reason }: AbortSignal, cause: unknown, consequence = '') {
    super(`Stopped (${reason}). ${consequence}`.trimEnd(), { cause })
    this.signal = String(reason)
  }
}

/**
 * Aborts on the first SIGINT, SIGTERM or SIGHUP, with its name as the reason. A second one kills the running commands, calls
 * `onExit` and ends the process at once; so does an uncaught error.
 */
export function stopSignal(
  terminal: Terminal,
  { onFirst, onExit }: { onFirst?: (name: string) => void; onExit?: () => void } = {},
): { signal: AbortSignal; [Symbol.dispose](): void } {
  const controller = new AbortController()
  const handlers = Object.keys(SIGNAL_EXIT).map((name) => {
    const handler = (): void => {
      if (controller.signal.aborted) {
        killRunningCommands()
        onExit?.()
        terminal.exit(SIGNAL_EXIT[name] ?? EXIT.failed)
        return
      }
      controller.abort(name) // first, so that an open question ends its line
      onFirst?.(name)
    }
    terminal.signals.on(name, handler)
    return { name, handler }
  })
  const onMistake = (): void => {
    killRunningCommands()
    if (onExit) terminal.signals.once('exit', onExit) // below the report of the error
  }
  terminal.signals.on('uncaughtExceptionMonitor', onMistake)
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      terminal.signals.off('uncaughtExceptionMonitor', onMistake)
      for (const { name, handler } of handlers) terminal.signals.off(name, handler)
    },
  }
}
