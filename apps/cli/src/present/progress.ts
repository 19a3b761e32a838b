import type { HumanInputRequest, JournalEvent } from '@delta/journal'
import type { Terminal } from '../terminal/terminal.js'
import { adviceAfterRun } from './advice-after-run.js'
import { eventDescriber } from './event-describer.js'
import type { Presenter } from './presenter.js'
import { columnsFor, printAnswer } from './print.js'
import { printable } from './printable.js'
import { repeatedNotices } from './repeated-notices.js'
import { storedEvent } from './stored-event.js'
import { styleFor } from './style.js'

interface ProgressOptions {
  quiet?: boolean
  verbose?: boolean
  /** A person is asked at the terminal. */
  interactive?: boolean
  /** What each thought took; default: as `verbose`. */
  tokens?: boolean
}

/**
 * Progress on stderr, line by line: each thought, each command as it would be typed, its result. The answer goes to stdout. On a
 * terminal, words that do not fit on a line go to the next one.
 */
export function progressPresenter(
  terminal: Terminal,
  { quiet = false, verbose = false, interactive = false, tokens = verbose }: ProgressOptions,
): Presenter {
  const style = styleFor(terminal.stderr, terminal.env)
  const describe = eventDescriber({ style, verbose, tokens, columns: () => columnsFor(terminal.stderr) })
  const isRepeated = repeatedNotices({ showsHooks: verbose })
  const say = (line: string): void => void terminal.stderr.write(`${line}\n`)
  let asked: string | undefined
  return {
    wantsStream: false,
    show(event) {
      if (event.kind === 'open' && event.event.type === 'ACTION_REQUEST') describe.remember(event.event)
      if (isRepeated(event) && !quiet) return
      if (event.kind === 'notice') say(style.dim(`note: ${printable(event.message)}`))
      const stored = event.kind === 'open' ? questionIn(event.event) : storedEvent(event)
      if (stored === undefined || quiet) return
      if (event.kind === 'journal' && questionIn(stored)) {
        if (interactive) return // the terminal shows what it asks
        asked = questionIn(stored)?.request_id
      }
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

/** The question of an `ask_human`. An approval shows its command itself. */
function questionIn(event: JournalEvent): HumanInputRequest | undefined {
  return event.type === 'HUMAN_INPUT_REQUEST' && event.argv === undefined ? event : undefined
}
