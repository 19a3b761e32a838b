import { killRunningCommands } from '@delta/executor'
import { EXIT, SIGNAL_EXIT, type Terminal } from './terminal.js'

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
