import { isKnownEvent, type StoredEvent } from '@delta/journal'
import type { Terminal } from '../terminal/terminal.js'
import { eventDescriber } from './event-describer.js'
import { print, screenWidth } from './print.js'
import { printableLine } from './printable.js'
import { styleFor } from './style.js'

export interface EventPrinter {
  (event: StoredEvent): void
  /** Takes note of an event without showing it: an `ENGINE_START` says how commands are shown. */
  pass(event: StoredEvent): void
}

/** Prints the events of one run to stdout: for people, or as in the journal; those of a single step in full. */
export function eventPrinter(
  { json, verbose, step }: { json?: boolean; verbose?: boolean; step?: string },
  terminal: Terminal,
): EventPrinter {
  if (json) {
    const show = (event: StoredEvent) => print(terminal, `${JSON.stringify(event)}\n`)
    return Object.assign(show, { pass: () => undefined })
  }
  const describe = eventDescriber({
    style: styleFor(terminal.stdout, terminal.env),
    verbose: verbose === true || step !== undefined,
    transcript: true,
    columns: () => screenWidth(terminal),
  })
  const show = (event: StoredEvent): void => {
    const lines = isKnownEvent(event) ? describe(event) : [`   ${printableLine(event.type)}`]
    for (const line of lines) terminal.stdout.write(`${line}\n`) // already safe, and coloured
  }
  return Object.assign(show, {
    pass(event: StoredEvent) {
      if (isKnownEvent(event) && event.type === 'ENGINE_START') describe(event)
    },
  })
}
