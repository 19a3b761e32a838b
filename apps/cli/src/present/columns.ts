/** A character, or one of our own changes of colour, which takes no column. */
function charactersOf(text: string): string[] {
  return text.includes(ESCAPE) ? (text.match(/\u001b\[\d+m|./gsu) ?? []) : [...text]
}

const ESCAPE = '\u001b'

/** A text in at most so many columns of a terminal, where some characters take two and some none; a cut is marked. */
export function inColumns(text: string, columns: number): string {
  const characters = charactersOf(text)
  const whole = fitting(characters, columns)
  if (whole === characters.length) return text
  return `${characters.slice(0, fitting(characters, columns - 1)).join('')}…`
}

/** Breaks a text into lines of at most `columns`, between words where that is possible. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  let rest = charactersOf(text)
  for (;;) {
    const whole = fitting(rest, columns)
    if (whole === rest.length) return [...lines, rest.join('')]
    const space = rest.slice(0, whole + 1).lastIndexOf(' ')
    const end = space > 0 ? space : Math.max(1, whole)
    lines.push(rest.slice(0, end).join(''))
    rest = rest.slice(space > 0 ? end + 1 : end)
  }
}

/** With less room than this, lines are left to the terminal. */
const NARROWEST = 20

/**
 * The same for a line of a transcript: what goes to the next line is aligned below the words of the first, behind the number or
 * the mark (`1.`, `!`, `>`) with which that begins.
 *
 * @param columns - Undefined: the line stays whole.
 */
export function hanging(line: string, columns: number | undefined): string[] {
  if (columns === undefined || columnsOf(line) <= columns) return [line]
  const [start = ''] = START.exec(line) ?? []
  const indent = columnsOf(start)
  if (columns - indent < NARROWEST) return [line]
  const [first = '', ...rest] = wrapped(line.slice(start.length), columns - indent)
  return [start + first, ...rest.map((next) => ' '.repeat(indent) + next)]
}

/** Blanks, and a mark, within and behind changes of colour. */
const START = /^(?:\u001b\[\d+m)*\s*(?:(?:ask_human \?|[!?>↳…]|\d+\.)(?:\u001b\[\d+m)* )?(?:\u001b\[\d+m)*/

/** How many columns of a terminal a text takes. */
export function columnsOf(text: string): number {
  return charactersOf(text).reduce((sum, character) => sum + widthOf(character), 0)
}

/** At most; how many it takes is decided by where it stands. */
const TAB = 8

/** How many of the characters fit. */
function fitting(characters: readonly string[], columns: number): number {
  let used = 0
  for (const [index, character] of characters.entries()) {
    used += widthOf(character)
    if (used > columns) return index
  }
  return characters.length
}

function widthOf(character: string): number {
  if (character.length > 1 && character[0] === ESCAPE) return 0
  if (character === '\t') return TAB
  if (character <= '~') return 1 // before the patterns are made, which takes a start a third of a millisecond
  if (/[\p{Mark}\u200b-\u200f]/u.test(character)) return 0
  const wide =
    /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|(?!\p{RI})\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
  return wide.test(character) ? 2 : 1
}
