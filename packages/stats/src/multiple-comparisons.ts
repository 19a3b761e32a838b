import { requireBetween, requireWithin } from './check.js'

/**
 * Adjusts p-values of several comparisons, so that the chance of even one false finding stays at what one is compared
 * with.
 *
 * The i-th smallest of m becomes the largest of (m − j + 1) · p_(j) over j ≤ i, at most 1 (Holm 1979). It holds however
 * the comparisons depend on each other.
 *
 * @param p - From 0 to 1 each, in any order.
 * @returns The adjusted ones, in the order of `p`.
 * @throws {RangeError} One is not from 0 to 1.
 */
export function holm(p: readonly number[]): number[] {
  for (const [index, value] of p.entries()) requireWithin(`holm: p[${index}]`, value, 0, 1)
  const adjusted = new Array<number>(p.length)
  let largest = 0
  const ascending = [...p.entries()].sort(([, a], [, b]) => a - b)
  for (const [rank, [index, value]] of ascending.entries()) {
    largest = Math.max(largest, Math.min(1, (p.length - rank) * value))
    adjusted[index] = largest
  }
  return adjusted
}

/**
 * Which variants cannot be told apart: the largest sets in which no pair differs at `alpha`.
 *
 * A variant may be in several sets, because "not distinguishable" is not transitive: a and b, b and c may be tied while
 * a and c differ. They are the maximal cliques of the graph of ties (Bron & Kerbosch 1973).
 *
 * @param names - The variants, best first if the sets should read so.
 * @param pMatrix - `pMatrix[i][j]`: p of names i and j, adjusted or not; symmetric. The diagonal is not read.
 * @param alpha - A pair differs if its p is at most this; 0.05 by default.
 * @returns Sets of at least two, each in the order of `names`.
 * @throws {RangeError} The matrix does not have a row and a column for each name, is not symmetric, or holds a p that
 *   is not from 0 to 1; `alpha` is not between 0 and 1.
 */
export function tiedSets(
  names: readonly string[],
  pMatrix: readonly (readonly number[])[],
  alpha = 0.05,
): string[][] {
  requireBetween('tiedSets: alpha', alpha, 0, 1)
  const ties = tiesOf(names, pMatrix, alpha)
  return maximalSets(ties, [], [...names.keys()], [])
    .filter((set) => set.length > 1)
    .map((set) => set.sort((a, b) => a - b))
    .sort(byMembers)
    .map((set) => names.filter((_, index) => set.includes(index)))
}

/** For each index, those that it is tied with. */
function tiesOf(
  names: readonly string[],
  pMatrix: readonly (readonly number[])[],
  alpha: number,
): Set<number>[] {
  if (pMatrix.length !== names.length || pMatrix.some((row) => row.length !== names.length)) {
    const sizes = pMatrix.map((row) => row.length).join(', ')
    throw new RangeError(
      `tiedSets needs ${names.length} rows of ${names.length} p, got rows of ${sizes || 'none'}.`,
    )
  }
  return names.map((_, i) => {
    const others = [...names.keys()].filter((j) => j !== i)
    return new Set(others.filter((j) => pOf(pMatrix, i, j) > alpha))
  })
}

function pOf(pMatrix: readonly (readonly number[])[], i: number, j: number): number {
  const p = pMatrix[i]?.[j] ?? Number.NaN
  requireWithin(`tiedSets: pMatrix[${i}][${j}]`, p, 0, 1)
  if (p === pMatrix[j]?.[i]) return p
  throw new RangeError(
    `tiedSets: pMatrix[${i}][${j}] is ${p}, and pMatrix[${j}][${i}] is ${pMatrix[j]?.[i]}.`,
  )
}

/** All ways to extend `chosen` by `candidates` as far as possible, without those that a set with one of `seen` would hold. */
function maximalSets(
  ties: Set<number>[],
  chosen: number[],
  candidates: number[],
  seen: number[],
): number[][] {
  if (candidates.length === 0) return seen.length === 0 ? [chosen] : []
  // Every maximal set holds the pivot or something that the pivot is not tied with: without it, ten ties are 1,024 branches.
  const reach = (index: number) => candidates.filter((other) => ties[index]?.has(other)).length
  const pivot = [...candidates, ...seen].reduce((best, next) => (reach(next) > reach(best) ? next : best))
  let left = candidates
  let done = seen
  return candidates
    .filter((candidate) => !ties[pivot]?.has(candidate))
    .flatMap((candidate) => {
      const tied = (other: number) => ties[candidate]?.has(other) ?? false
      const found = maximalSets(ties, [...chosen, candidate], left.filter(tied), done.filter(tied))
      left = left.filter((other) => other !== candidate)
      done = [...done, candidate]
      return found
    })
}

function byMembers(a: number[], b: number[]): number {
  const at = a.findIndex((member, index) => member !== b[index])
  return (a[at] ?? 0) - (b[at] ?? 0)
}
