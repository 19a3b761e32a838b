/** Up to three of `names` that somebody who wrote `wanted` may have meant, likeliest first. */
export function nearestNames(wanted: string, names: Iterable<string>): string[] {
  const target = wanted.slice(0, 64)
  if (target.trim() === '') return [] // near to every short name, and meant as none
  return [...names]
    .map((name) => ({ name, distance: unlikeness(target, name) }))
    .filter(({ name, distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name)
}

/** `read-file`, `readFile` and `file_read` are all near to `read_file`. */
function unlikeness(one: string, other: string): number {
  const [words, otherWords] = [wordsOf(one), wordsOf(other)]
  const asWritten = distance(words.join(''), otherWords.join(''))
  return Math.min(asWritten, distance(words.sort().join(''), otherWords.sort().join('')))
}

function wordsOf(name: string): string[] {
  const apart = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return apart.split(/[^a-z0-9]+/)
}

/** Levenshtein's distance, one row at a time. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
