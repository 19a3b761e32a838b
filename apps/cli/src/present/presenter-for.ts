import type { Terminal } from '../terminal/terminal.js'
import { withEngineLog } from './engine-log.js'
import { livePresenter } from './live.js'
import { jsonPresenter, rawPresenter, streamJsonPresenter } from './machine.js'
import type { Format, Presenter, PresenterFlags } from './presenter.js'
import { progressPresenter } from './progress.js'
import { type RunPresenter, withResumeHint } from './resume-hint.js'

/** The presenter for these flags and this terminal; everything is also written to the run's `engine.log`. */
export function presenterFor(flags: PresenterFlags, terminal: Terminal): RunPresenter {
  const shown = { ...flags, quiet: isQuiet(flags, terminal) }
  const presenter = inFormat(flags.format, progressFor(shown, terminal), terminal)
  return withResumeHint(withEngineLog(presenter), terminal.env)
}

/** A sub-agent's stderr is read by its parent's model, which needs the result and not every step. */
function isQuiet({ quiet = false, verbose = false }: PresenterFlags, { env }: Terminal): boolean {
  return quiet || (env.DELTA_PARENT_RUN !== undefined && !verbose)
}

/** Progress is animated on a terminal, and line by line in a file or a pipe. */
function progressFor(flags: PresenterFlags, terminal: Terminal): Presenter {
  const moves = terminal.stderr.isTTY === true && terminal.env.TERM !== 'dumb' && !flags.quiet
  return moves ? livePresenter(terminal, flags) : progressPresenter(terminal, flags)
}

function inFormat(format: Format, progress: Presenter, terminal: Terminal): Presenter {
  switch (format) {
    case 'text':
      return progress
    case 'json':
      return jsonPresenter(progress, terminal)
    case 'raw':
      return rawPresenter(progress, terminal)
    case 'stream-json':
      return streamJsonPresenter(progress, terminal)
    default:
      return format satisfies never
  }
}
