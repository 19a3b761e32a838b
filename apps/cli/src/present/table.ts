import { columnsOf, wrapped } from './columns.js'

const GAP = '  '
/** With less room than this, a text would become a column of single words. */
const NARROWEST = 24

/**
 * Rows as lines with aligned columns. On a screen, the last column is wrapped to the room that is left; if that is too
 * little, each row is spread over several lines.
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
    .flatMap((cells) =>
      isLoose ? belowOneAnother(cells, widths, screen) : besideOneAnother(cells, widths, room),
    )
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

/** Cells that fit on one line are still aligned with those of the other rows. */
function belowOneAnother(cells: readonly string[], widths: readonly number[], screen: number): string[] {
  const groups = [...groupsOf(widths, screen), [widths.length]]
  const texts = groups.map((columns) =>
    columns.map((column) => padded(cells[column] ?? '', widths[column] ?? 0)).join(GAP),
  )
  return texts
    .map((text) => text.trimEnd())
    .flatMap((text, index) => {
      if (text === '') return []
      const indent = index === 0 ? '' : GAP
      return wrapped(text, screen - indent.length).map((line) => indent + line)
    })
}

/** Which columns share a line: all if there is room; otherwise the first alone, and then as many of the others as fit. */
function groupsOf(widths: readonly number[], screen: number): number[][] {
  const columns = [...widths.keys()]
  const taken = (group: readonly number[], indent: number): number =>
    group.reduce((sum, column) => sum + (widths[column] ?? 0) + GAP.length, indent - GAP.length)
  if (taken(columns, 0) <= screen) return [columns]
  const groups = columns.slice(0, 1).map((first) => [first])
  for (const column of columns.slice(1)) {
    const line = groups.at(-1) ?? []
    if (groups.length > 1 && taken([...line, column], GAP.length) <= screen) line.push(column)
    else groups.push([column])
  }
  return groups
}

function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}
