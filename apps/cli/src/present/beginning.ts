import { counted } from './counted.js'
import { printable } from './printable.js'

/** Lines of a command or of what it printed that are shown when not all are wanted, and characters of each. */
const SHOWN_LINES = 8
const SHOWN_CHARACTERS = 300

/** A long text by its beginning: the whole is in the journal, and `delta show --step` prints it. */
export function beginning(text: string, whole: boolean): string[] {
  const lines = printable(text).split('\n')
  if (whole) return lines
  const rest = lines.length - SHOWN_LINES
  const more = rest > 0 ? [`… ${counted(rest, 'more line')}`] : []
  return [...lines.slice(0, SHOWN_LINES).map(cut), ...more]
}

function cut(line: string): string {
  if (line.length <= SHOWN_CHARACTERS) return line
  const characters = [...line] // of some a half is none
  const rest = characters.length - SHOWN_CHARACTERS
  return rest <= 0
    ? line
    : `${characters.slice(0, SHOWN_CHARACTERS).join('')} … ${counted(rest, 'more character')}`
}
