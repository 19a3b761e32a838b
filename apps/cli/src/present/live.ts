import type { EngineEvent } from '@delta/engine'
import type { JournalEvent } from '@delta/journal'
import type { Terminal } from '../terminal/terminal.js'
import type { Presenter, PresenterFlags } from './presenter.js'
import { progressPresenter } from './progress.js'
import { createSpinner, ERASE_LINE } from './spinner.js'
import { storedEvent } from './stored-event.js'
import { streamedThought } from './streamed-thought.js'
import { styleFor } from './style.js'

/** Progress on a terminal: thoughts as they stream, and a spinner while nothing comes. */
export function livePresenter(terminal: Terminal, flags: Omit<PresenterFlags, 'format'>): Presenter {
  const lines = progressPresenter(terminal, { ...flags, tokens: true })
  const style = styleFor(terminal.stderr, terminal.env)
  const spinner = createSpinner(terminal.stderr, style)
  const thought = streamedThought(terminal.stderr, style)
  let shownAnswer: string | undefined
  /** What the run is waiting for. */
  let wait: string | undefined

  function tell(event: EngineEvent, stored: JournalEvent | undefined): void {
    spinner.stop()
    const isTold = stored?.type === 'THOUGHT' && thought.end(stored)
    if (isTold && stored.tool_calls.length === 0) shownAnswer = stored.content
    if (stored && breaksThought(stored)) thought.forget()
    thought.endLine()
    if (!isTold) lines.show(event)
    if (stored && stored.type !== 'HOOK_EXECUTION_AUDIT') wait = waitAfter(stored)
    if (wait !== undefined) spinner.start(wait)
  }

  return {
    ...lines,
    wantsStream: true,
    show(event) {
      const stored = storedEvent(event)
      if (event.kind === 'reasoning') return // the spinner goes on: thinking, and for how long
      if (event.kind === 'delta') {
        spinner.stop()
        thought.add(event.content, event.iteration)
      } else if (stored && isSilent(stored, flags)) lines.show(event)
      else tell(event, stored)
    },
    warn(message) {
      spinner.stop()
      wait = undefined
      if (!thought.endLine()) terminal.stderr.write(ERASE_LINE) // the ^C that the terminal shows for Ctrl+C
      lines.warn(message)
    },
    finish(result) {
      spinner.stop()
      const seen = terminal.stdout.isTTY === true && result.answer === shownAnswer
      lines.finish(result, seen)
    },
    leaveRoomFor(question) {
      spinner.stop()
      thought.endLine()
      lines.leaveRoomFor(question)
    },
  }
}

/** Hooks are shown only with `-v`, or if they changed what the model reads. */
function isSilent(event: JournalEvent, { verbose }: { verbose?: boolean }): boolean {
  if (event.type !== 'HOOK_EXECUTION_AUDIT' || verbose) return false
  return typeof event.observation_override !== 'string'
}

/** True for an event that ends an attempt of the model, perhaps in the middle of a thought. */
function breaksThought({ type }: JournalEvent): boolean {
  return type === 'ERROR' || type === 'ENGINE_END'
}

/** What the run waits for after an event; undefined for nothing, or for a person. */
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
