/** Where one of several texts was found. */
export interface Place {
  readonly start: number
  readonly end: number
}

/**
 * Finds several texts at once, from left to right and never overlapping; of those that begin at one place the first given.
 *
 * Not a regular expression made of them: there is a length that none may have, and the error about one that is too long
 * quotes all of it, to whoever reads the error.
 */
export function* findLiterals(text: string, literals: readonly string[]): Generator<Place, void> {
  const next = literals.map((literal) => text.indexOf(literal))
  for (let from = 0; ; ) {
    let found: Place | undefined
    for (const [index, literal] of literals.entries()) {
      let start = next[index] ?? -1
      if (start !== -1 && start < from) start = text.indexOf(literal, from)
      next[index] = start
      if (start !== -1 && (!found || start < found.start)) found = { start, end: start + literal.length }
    }
    if (!found) return
    yield found
    from = found.end
  }
}
