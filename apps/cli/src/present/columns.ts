import stringWidth from 'string-width'

/** A text in at most this many columns of a terminal; a cut is marked with `…`. */
export function inColumns(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  let shown = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(shown + segment) >= columns) break
    shown += segment
  }
  return `${shown}…`
}

/** A text as lines of at most `columns`, broken between words. A longer word gets a line of its own. */
function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  let line: string | undefined
  for (const word of text.split(' ')) {
    if (line === undefined) line = word
    else if (stringWidth(`${line} ${word}`) <= columns) line += ` ${word}`
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line ?? '']
}

const GAP = '  '
/** With less room than this, a column would become one of single words. */
const NARROWEST = 20

/**
 * Rows as lines with aligned columns. On a screen the last column is wrapped to the room that is left. If that is too little,
 * it stands below the others; if these do not fit either, each row becomes a paragraph: the first cell, and below it the others,
 * each behind its header.
 *
 * @param screen - Columns of the terminal; undefined for a file or a pipe, whose lines are never broken.
 */
export function table([header, ...rows]: readonly [string[], ...string[][]], screen?: number): string {
  const all = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...all.map((cells) => stringWidth(cells[column] ?? ''))))
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0)
  const room = screen === undefined ? Number.POSITIVE_INFINITY : screen - before
  const isTooNarrow = room < Math.min(NARROWEST, widths.at(-1) ?? 0)
  const startOf = (cells: readonly string[]) =>
    cells
      .slice(0, -1)
      .map((cell, column) => padded(cell, widths[column] ?? 0) + GAP)
      .join('')
  const lines = !isTooNarrow
    ? all.flatMap((cells) => behind(startOf(cells), cells.at(-1) ?? '', room))
    : room >= -GAP.length
      ? all.flatMap((cells) => [
          startOf(cells),
          ...behind(GAP, cells.at(-1) ?? '', room + before - GAP.length),
        ])
      : rows.flatMap((cells) => paragraph(header, cells, room + before))
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

function paragraph(
  header: readonly string[],
  [first = '', ...cells]: readonly string[],
  screen: number,
): string[] {
  const width = Math.max(...header.map((name) => name.length)) + GAP.length
  return [
    first,
    ...cells.flatMap((cell, index) => {
      const start = GAP + padded(header[index + 1] ?? '', width)
      return cell === '' ? [] : behind(start, cell, screen - start.length)
    }),
  ]
}

function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)))
}

function behind(start: string, text: string, room: number): string[] {
  const [first = '', ...rest] = wrapped(text, room)
  return [start + first, ...rest.map((line) => ' '.repeat(stringWidth(start)) + line)]
}

/** The first column of a table of the help, and the gap behind it; or the indentation of an explanation. */
const START = /^ +\S.*? {2,}(?=\S)|^ {6,}/

/** A text of the help in lines of at most this many columns: paragraphs and tables are wrapped, code is not. */
export function fitted(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      const start = line.startsWith(' ') ? START.exec(line)?.[0] : ''
      const room = columns - (start?.length ?? 0)
      return start === undefined || room < NARROWEST ? [line] : behind(start, line.slice(start.length), room)
    })
    .join('\n')
}
