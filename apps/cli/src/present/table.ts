import { columnsOf, wrapped } from './columns.js'

const GAP = '  '
/** With less than this a text becomes a tower of words. */
const NARROWEST = 20

/**
 * Rows as lines whose columns begin below one another. The last column is as wide as it is, and on a screen as wide as
 * there is room, in several lines; where too little is left for that, a row's cells follow one another.
 *
 * @param screen - Columns of the terminal; undefined for a file or a pipe, whose lines are never broken.
 */
export function table(rows: readonly (readonly string[])[], screen?: number): string {
  const columns = rows[0]?.length ?? 0
  const widths = Array.from({ length: columns - 1 }, (_, column) =>
    Math.max(...rows.map((cells) => columnsOf(cells[column] ?? ''))),
  )
  const before = widths.reduce((sum, width) => sum + width + GAP.length, 0)
  const isLoose =
    screen !== undefined &&
    screen - before < NARROWEST &&
    rows.some((cells) => tooWide(cells, before, screen))
  const room = screen === undefined ? undefined : screen - before
  return rows
    .flatMap((cells) => (isLoose ? oneAfterAnother(cells, screen) : besideOneAnother(cells, widths, room)))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

function tooWide(cells: readonly string[], before: number, screen: number): boolean {
  return before + columnsOf(cells.at(-1) ?? '') > screen
}

function besideOneAnother(
  cells: readonly string[],
  widths: readonly number[],
  room: number | undefined,
): string[] {
  const last = cells.at(-1) ?? ''
  const start = widths.map((width, column) => padded(cells[column] ?? '', width) + GAP).join('')
  const [first = '', ...rest] = room === undefined ? [last] : wrapped(last, room)
  return [start + first, ...rest.map((line) => ' '.repeat(columnsOf(start)) + line)]
}

function oneAfterAnother(cells: readonly string[], screen: number): string[] {
  const lines: string[] = []
  for (const cell of cells.filter((text) => text !== '')) {
    const line = lines.at(-1)
    const longer = `${line}${GAP}${cell}`
    if (line !== undefined && columnsOf(longer) <= screen) lines[lines.length - 1] = longer
    else
      lines.push(
        ...wrapped(cell, screen - GAP.length).map((part) => (line === undefined ? part : GAP + part)),
      )
  }
  return lines
}

function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}
