/**
 * The heights of the rows of a long list: those that were measured, and a guess for the others. Sums over a prefix take logarithmic time
 * (a Fenwick tree), so a list of 100,000 rows scrolls like one of ten.
 */
export interface Heights {
  readonly count: number
  readonly total: number
  /** The distance of a row from the top of the list. */
  top(index: number): number
  /** The row at a distance from the top; the last one beyond the end. */
  at(offset: number): number
  height(index: number): number
  /** @returns By how much the row grew. */
  measure(index: number, height: number): number
  /** Adds rows at the end, or takes them away there. */
  resize(count: number): void
}

export function createHeights(count: number, guess: number): Heights {
  let rows: Float64Array = new Float64Array(0)
  let tree: Float64Array = new Float64Array(1)
  let used = 0

  function resize(wanted: number): void {
    if (wanted > rows.length) {
      const larger = new Float64Array(Math.max(wanted, rows.length * 2, 64)).fill(guess)
      larger.set(rows.subarray(0, used))
      rows = larger
    } else rows.fill(guess, Math.min(wanted, used))
    used = wanted
    tree = new Float64Array(rows.length + 1)
    for (let index = 1; index < tree.length; index++) {
      tree[index] = (tree[index] as number) + (rows[index - 1] as number)
      const parent = index + (index & -index)
      if (parent < tree.length) tree[parent] = (tree[parent] as number) + (tree[index] as number)
    }
  }

  function top(index: number): number {
    let sum = 0
    for (let at = Math.min(index, used); at > 0; at -= at & -at) sum += tree[at] as number
    return sum
  }

  resize(count)
  return {
    get count() {
      return used
    },
    get total() {
      return top(used)
    },
    top,
    at(offset) {
      let found = 0
      let rest = offset
      for (let step = 2 ** Math.floor(Math.log2(tree.length)); step >= 1; step /= 2) {
        const next = found + step
        if (next < tree.length && (tree[next] as number) <= rest) {
          found = next
          rest -= tree[next] as number
        }
      }
      return Math.max(0, Math.min(found, used - 1))
    },
    height: (index) => rows[index] ?? guess,
    measure(index, height) {
      if (index >= used) return 0
      const grown = height - (rows[index] as number)
      if (grown === 0) return 0
      rows[index] = height
      for (let at = index + 1; at < tree.length; at += at & -at) tree[at] = (tree[at] as number) + grown
      return grown
    },
    resize,
  }
}

/** The rows that are in view, and a screenful around them. */
export function visibleRows(
  heights: Heights,
  scrollTop: number,
  viewHeight: number,
): { from: number; to: number } {
  if (heights.count === 0) return { from: 0, to: 0 }
  const from = heights.at(Math.max(0, scrollTop - viewHeight / 2))
  return { from, to: heights.at(scrollTop + viewHeight * 1.5) + 1 }
}
