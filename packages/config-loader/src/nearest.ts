/**
 * The known name that a mistyped one most probably meant, or undefined if none is close.
 *
 * Close is: the same but for case and `-`/`_`, at most one edit in four letters (two swapped letters are one), or
 * the name without its unit (`timeout` for `timeout_ms`).
 */
export function nearestName(
  name: string,
  known: Iterable<string>,
  mostEdits = Math.max(1, Math.floor(name.length / 4)),
): string | undefined {
  const wanted = plain(name)
  const names = [...known]
  const longer = names.find((candidate) => plain(candidate).startsWith(`${wanted}_`))
  let best: { name: string; distance: number } | undefined
  for (const candidate of names) {
    const distance = editDistance(wanted, plain(candidate))
    if (best === undefined || distance < best.distance) best = { name: candidate, distance }
  }
  return best !== undefined && best.distance <= mostEdits ? best.name : longer
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}

/** Optimal string alignment: insert, delete, replace, swap neighbours. */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row[j] = Math.min(
        cell(rows, i - 1, j) + 1,
        (row[j - 1] ?? 0) + 1,
        cell(rows, i - 1, j - 1) + (same ? 0 : 1),
        swapped ? cell(rows, i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    rows.push(row)
  }
  return cell(rows, from.length, to.length)
}

function cell(rows: number[][], row: number, column: number): number {
  return rows[row]?.[column] ?? 0
}
