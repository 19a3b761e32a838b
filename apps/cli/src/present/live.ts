import type { JournalEvent, Thought } from '@delta/journal'
import { isKnownEvent } from '@delta/journal'
import type { Terminal } from '../terminal/terminal.js'
import { thoughtTokens } from './describe.js'
import type { Presenter } from './presenter.js'
import { printable } from './printable.js'
import { progressPresenter } from './progress.js'
import { createSpinner, ERASE_LINE } from './spinner.js'
import { styleFor } from './style.js'

/** Progress on a terminal: thoughts as they stream, and something that moves while nothing comes. */
export function livePresenter(terminal: Terminal, flags: { quiet?: boolean; verbose?: boolean }): Presenter {
  const lines = progressPresenter(terminal, flags)
  const style = styleFor(terminal.stderr, terminal.env)
  const spinner = createSpinner(terminal.stderr, style)
  /** What the model has said of its present thought, as it was shown. */
  let streamed = ''
  let midLine = false
  let shownAnswer: string | undefined
  /** What takes time now. */
  let wait: string | undefined

  function showPiece(content: string, iteration: number): void {
    spinner.stop()
    if (streamed === '') terminal.stderr.write(style.dim(`${iteration}. `))
    streamed += content
    midLine = true
    terminal.stderr.write(style.bold(printable(content)))
  }

  /** A thought that has streamed is not said again; one that a hook changed is. */
  function endThought(event: Thought): boolean {
    if (streamed === '') return false
    const same = streamed === event.content
    streamed = ''
    midLine = false
    terminal.stderr.write(`${style.dim(thoughtTokens(event))}\n`)
    if (same && event.tool_calls.length === 0) shownAnswer = event.content
    return same
  }

  /** Whoever writes lines does not go on where a thought stands. */
  function freshLine(): void {
    spinner.stop()
    if (midLine) terminal.stderr.write('\n')
    midLine = false
  }

  return {
    ...lines,
    wantsStream: true,
    show(event) {
      if (event.kind === 'delta') {
        showPiece(event.content, event.iteration)
        return
      }
      const stored = event.kind === 'journal' && isKnownEvent(event.event) ? event.event : undefined
      if (stored && isSilent(stored, flags)) {
        lines.show(event)
        return
      }
      spinner.stop()
      const isSaid = stored?.type === 'THOUGHT' && endThought(stored)
      if (stored && endsThought(stored)) streamed = ''
      freshLine()
      if (!isSaid) lines.show(event)
      if (stored && stored.type !== 'HOOK_EXECUTION_AUDIT') wait = waitAfter(stored)
      if (wait !== undefined) spinner.start(wait)
    },
    warn(message) {
      const empty = !midLine
      freshLine()
      wait = undefined
      if (empty) terminal.stderr.write(ERASE_LINE) // but for a Ctrl+C, which the terminal shows as ^C
      lines.warn(message)
    },
    finish(result) {
      spinner.stop()
      const seen = terminal.stdout.isTTY === true && result.answer === shownAnswer
      lines.finish(result, seen)
    },
    leaveRoomFor(question) {
      freshLine()
      lines.leaveRoomFor(question)
    },
  }
}

/** A hook is told of where all is wanted, or where it changed what the model reads. */
function isSilent(event: JournalEvent, { verbose }: { verbose?: boolean }): boolean {
  if (event.type !== 'HOOK_EXECUTION_AUDIT' || verbose) return false
  return typeof event.observation_override !== 'string'
}

/** A thought that breaks off in the middle is forgotten: the next attempt says it anew. */
function endsThought({ type }: JournalEvent): boolean {
  return type === 'ERROR' || type === 'ENGINE_END'
}

/** What will take time after an event; undefined when nothing does, or a person is asked. */
function waitAfter(event: JournalEvent): string | undefined {
  switch (event.type) {
    case 'ENGINE_START':
    case 'USER_MESSAGE':
    case 'ACTION_RESULT':
      return 'thinking'
    case 'ACTION_REQUEST':
      return event.resolved_command ? event.tool_name : undefined
    case 'ERROR':
      return event.recoverable ? 'waiting to try again' : undefined
    default:
      return undefined
  }
}
