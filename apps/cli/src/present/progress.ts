import type { Terminal } from '../terminal/terminal.js'
import { adviceAfterRun } from './advice-after-run.js'
import { eventDescriber } from './event-describer.js'
import type { Presenter } from './presenter.js'
import { printAnswer } from './print.js'
import { printable } from './printable.js'
import { repeatedNotices } from './repeated-notices.js'
import { storedEvent } from './stored-event.js'
import { styleFor } from './style.js'

interface ProgressOptions {
  quiet?: boolean
  verbose?: boolean
  /** What each thought took; default: as `verbose`. */
  tokens?: boolean
}

/** Progress on stderr, line by line: each thought, each command as it would be typed, its result. The answer goes to stdout. */
export function progressPresenter(
  terminal: Terminal,
  { quiet = false, verbose = false, tokens = verbose }: ProgressOptions,
): Presenter {
  const style = styleFor(terminal.stderr, terminal.env)
  const describe = eventDescriber({ style, verbose, tokens })
  const isRepeated = repeatedNotices({ showsHooks: verbose })
  const say = (line: string): void => void terminal.stderr.write(`${line}\n`)
  let asked: string | undefined
  return {
    wantsStream: false,
    show(event) {
      if (event.kind === 'open') describe.remember(event.event)
      if (isRepeated(event) && !quiet) return
      if (event.kind === 'notice') say(style.dim(`note: ${printable(event.message)}`))
      const stored = storedEvent(event)
      if (stored === undefined || quiet) return
      for (const line of describe(stored)) say(line)
    },
    warn: (message) => say(style.yellow(printable(message))),
    finish(result, answerIsShown = false) {
      if (result.status === 'COMPLETED' && !answerIsShown) printAnswer(terminal, result.answer)
      for (const line of adviceAfterRun(result, { env: terminal.env, endIsTold: !quiet, asked })) say(line)
    },
    leaveRoomFor({ requestId }) {
      asked = requestId // nothing is animated here
    },
  }
}
