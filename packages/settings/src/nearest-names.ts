import { distance } from 'fastest-levenshtein'

/** Longer names are cut: the work grows with the square of the length. */
const LONGEST = 64

/**
 * Up to three of `names` that `wanted` may be a misspelling of, likeliest first.
 *
 * Capitals, `-`, `_` and the order of the words do not count: `readFile` and `file-read` are `read_file`. Two swapped letters
 * are one mistake. Names that continue the wanted one come last: `timeout_ms` for `timeout`.
 *
 * @param mostEdits - How many letters may be wrong. Default: one in four, and at least one.
 */
export function nearestNames(wanted: string, names: Iterable<string>, mostEdits?: number): string[] {
  const most = mostEdits ?? Math.max(1, Math.floor(Math.min(wanted.length, LONGEST) / 4))
  const target = wordsOf(wanted.slice(0, LONGEST))
  if (target.join('') === '') return [] // near to every short name
  const known = [...names].map((name) => ({ name, words: wordsOf(name) }))
  const near = known
    .map(({ name, words }) => ({ name, edits: unlikeness(target, words, most) }))
    .filter(({ edits }) => edits <= most)
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
  return Math.min(edits(one, other), edits(words.toSorted().join(''), others.toSorted().join('')))
}

/** A swap is two replaced letters to Levenshtein, and one mistake to a person: the letters are the same. */
function edits(one: string, other: string): number {
  const hasSameLetters = [...one].sort().join('') === [...other].sort().join('')
  return distance(one, other) / (hasSameLetters ? 2 : 1)
}
