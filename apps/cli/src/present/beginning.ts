import { counted } from './counted.js'
import { printable } from './printable.js'

/** Lines of a command or of what it printed that are shown when not all are wanted, and characters of each. */
const SHOWN_LINES = 8
const SHOWN_CHARACTERS = 300

/** A long text by its beginning: the whole is in the journal, and `delta show --step` prints it. */
export function beginning(text: string, whole: boolean): string[] {
  return firstLines(text, whole, (rest) => counted(rest.length, 'more line'))
}

/** Where an observation was cut for the model: this much is in the record of the command alone. */
const LEFT_OUT = /^\[(\d+ bytes left out) here(; all \d+ bytes are in .*)?\]$/

/** The same for what the model was shown of an output. */
export function beginningOfOutput(text: string, whole: boolean): string[] {
  return firstLines(text, whole, (rest) => {
    const gaps = rest.flatMap((line) => LEFT_OUT.exec(line)?.slice(1).join('') ?? [])
    const lines = rest.length - gaps.length
    return [...(lines > 0 ? [counted(lines, 'more line')] : []), ...gaps].join(', and ')
  })
}

function firstLines(text: string, whole: boolean, describe: (rest: string[]) => string): string[] {
  const lines = printable(text).split('\n')
  const rest = lines.slice(SHOWN_LINES)
  if (whole || rest.length === 0) return lines.map((line) => (whole ? line : cut(line)))
  return [...lines.slice(0, SHOWN_LINES).map(cut), `… ${describe(rest)}`]
}

function cut(line: string): string {
  if (line.length <= SHOWN_CHARACTERS) return line
  const characters = [...line] // of some a half is none
  const rest = characters.length - SHOWN_CHARACTERS
  return rest <= 0
    ? line
    : `${characters.slice(0, SHOWN_CHARACTERS).join('')} … ${counted(rest, 'more character')}`
}
