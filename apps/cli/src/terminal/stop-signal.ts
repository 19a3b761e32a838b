import { killRunningCommands } from '@delta/executor'
import { EXIT, SIGNAL_EXIT, type Terminal } from './terminal.js'

/** The command was ended by a signal before it had a result. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError'
  readonly code = 'ERR_CLI_STOPPED'
  readonly signal: string

  /** @param consequence - A sentence on what became of it. */
  constructor({ reason }: AbortSignal, cause: unknown, consequence = '') {
    super(`Stopped (${reason}). ${consequence}`.trimEnd(), { cause })
    this.signal = String(reason)
  }
}

/**
 * Aborts on the first SIGINT, SIGTERM or SIGHUP, with its name as the reason. Another one ends the process at once, and
 * kills the commands that it has running; before it leaves, `lastWord` is called. So does an error that nobody caught.
 */
export function stopSignal(
  terminal: Terminal,
  { onFirst, lastWord }: { onFirst?: (name: string) => void; lastWord?: () => void } = {},
): { signal: AbortSignal; [Symbol.dispose](): void } {
  const controller = new AbortController()
  const handlers = Object.keys(SIGNAL_EXIT).map((name) => {
    const handler = (): void => {
      if (controller.signal.aborted) {
        killRunningCommands()
        lastWord?.()
        terminal.exit(SIGNAL_EXIT[name] ?? EXIT.failed)
        return
      }
      controller.abort(name) // first, so that a question which stands there ends its line
      onFirst?.(name)
    }
    terminal.signals.on(name, handler)
    return { name, handler }
  })
  const onMistake = (): void => {
    killRunningCommands()
    if (lastWord) terminal.signals.once('exit', lastWord) // below what is said of the error
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
