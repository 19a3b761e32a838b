import { counted } from './counted.js'
import { printable } from './printable.js'

/** How much of a command or of its output is shown without `-v`: lines, and characters of each. */
const SHOWN_LINES = 8
const SHOWN_CHARACTERS = 300

/** The beginning of a long text. The whole is in the journal, and `delta show --step` prints it. */
export function beginning(text: string, whole: boolean): string[] {
  return firstLines(text, whole, (rest) => counted(rest.length, 'more line'))
}

/** Marks where an observation was cut for the model; the bytes left out are only in the command's record. */
const LEFT_OUT = /^\[(\d+ bytes left out) here(; all \d+ bytes are in .*)?\]$/

/** The same for an observation, which may have been cut for the model already. */
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
  const characters = [...line] // by code points: never half a character
  const rest = characters.length - SHOWN_CHARACTERS
  return rest <= 0
    ? line
    : `${characters.slice(0, SHOWN_CHARACTERS).join('')} … ${counted(rest, 'more character')}`
}
