/** Nobody mistypes a longer name, and the work grows with its square. */
const LONGEST = 64

/**
 * Up to three of `names` that somebody who wrote `wanted` may have meant, likeliest first.
 *
 * Capitals, `-`, `_` and the order of the words do not count: `readFile` and `file-read` are `read_file`. Besides, one letter in
 * four may be wrong, and one in any case; two that changed places are one. Behind these come names that go on where the wanted
 * one ends: `timeout_ms` for `timeout`.
 *
 * @param mostEdits - How many letters may be wrong. Default: one in four, and at least one.
 */
export function nearestNames(wanted: string, names: Iterable<string>, mostEdits?: number): string[] {
  return nearest(
    wanted,
    [...names],
    mostEdits ?? Math.max(1, Math.floor(Math.min(wanted.length, LONGEST) / 4)),
  )
}

function nearest(wanted: string, names: readonly string[], mostEdits: number): string[] {
  const target = wordsOf(wanted.slice(0, LONGEST))
  if (target.join('') === '') return [] // near to every short name, and meant as none
  const known = [...names].map((name) => ({ name, words: wordsOf(name) }))
  const near = known
    .map(({ name, words }) => ({ name, edits: unlikeness(target, words, mostEdits) }))
    .filter(({ edits }) => edits <= mostEdits)
    .sort((one, other) => one.edits - other.edits)
  const longer = known.filter(({ words }) => words.join('_').startsWith(`${target.join('_')}_`))
  return [...new Set([...near, ...longer].map(({ name }) => name))].slice(0, 3)
}

function wordsOf(name: string): string[] {
  const apart = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return apart.split(/[^a-z0-9]+/)
}

function unlikeness(words: readonly string[], others: readonly string[], mostEdits: number): number {
  const [one, other] = [words.join(''), others.join('')]
  if (Math.abs(one.length - other.length) > mostEdits) return Number.POSITIVE_INFINITY
  const asWritten = editDistance(one, other)
  if (words.length === 1 && others.length === 1) return asWritten
  return Math.min(asWritten, editDistance([...words].sort().join(''), [...others].sort().join('')))
}

/** Optimal string alignment: insert, delete, replace, swap neighbours. */
function editDistance(from: string, to: string): number {
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const replaced = (row[j - 1] ?? 0) + (isSame ? 0 : 1)
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[to.length] ?? 0
}
