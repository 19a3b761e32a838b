import type { Terminal } from '../terminal/terminal.js'
import { withEngineLog } from './engine-log.js'
import { type RunPresenter, withLastWord } from './last-word.js'
import { livePresenter } from './live.js'
import { jsonPresenter, rawPresenter, streamJsonPresenter } from './machine.js'
import type { Format, Presenter, PresenterFlags } from './presenter.js'
import { progressPresenter } from './progress.js'

/** What a run looks like from outside; all that is said also goes to the run's `engine.log`. */
export function presenterFor(flags: PresenterFlags, terminal: Terminal): RunPresenter {
  const shown = { ...flags, quiet: isQuiet(flags, terminal) }
  const presenter = inFormat(flags.format, progressFor(shown, terminal), terminal)
  return withLastWord(withEngineLog(presenter), terminal.env)
}

/** A sub-agent's stderr is read by its parent's model, which wants the result and not every step. */
function isQuiet({ quiet = false, verbose = false }: PresenterFlags, { env }: Terminal): boolean {
  return quiet || (env.DELTA_PARENT_RUN !== undefined && !verbose)
}

/** On a terminal progress moves; a file or a pipe gets it line by line. */
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
