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

/** Rows, the first of them a header, as lines with aligned columns. The terminal breaks a line that is wider than it is. */
export function table(rows: readonly string[][]): string {
  const widthOf = (column: number) => Math.max(...rows.map((cells) => stringWidth(cells[column] ?? '')))
  const widths = (rows[0] ?? []).map((_, column) => widthOf(column))
  const padded = (cell: string, column: number) =>
    cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell))
  return rows.map((cells) => `${cells.map(padded).join('  ').trimEnd()}\n`).join('')
}
