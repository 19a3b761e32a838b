import { baseName, WRAPPER } from './interpreters.js'
import { isParameter, type Part, type Placeholder } from './template.js'

/** A word of a command in pieces; null is what only a shell knows. */
export interface CommandWord {
  pieces: readonly (Part | null)[]
  /** Begins with a brace, which bash expands: `{a,${p}}` is two words, and the value begins the second. */
  brace?: boolean
}

/** A word as text, with a NUL for each piece that is not fixed. */
export function shapeOf(word: CommandWord | undefined): string {
  return word?.pieces.map((piece) => (typeof piece === 'string' ? piece : '\0')).join('') ?? ''
}

/** Calls back for each value that can begin a word which the program may take for an option. */
export function forLeadingValues<Word extends CommandWord>(
  words: readonly Word[],
  note: (value: Placeholder, word: Word) => void,
): void {
  for (const word of words.slice(0, endOfOptions(words))) {
    const fixed = word.pieces.findIndex(isFixed)
    const leading = word.brace || fixed < 0 ? word.pieces : word.pieces.slice(0, fixed)
    for (const value of leading.filter(isParameter)) if (!value.raw) note(value, word)
  }
}

function isFixed(piece: Part | null): boolean {
  return piece !== null && !isParameter(piece)
}

/** Where the `--` stands behind which the program takes no options. That of a wrapper ends only the wrapper's. */
function endOfOptions(words: readonly CommandWord[]): number {
  const end = words.findIndex((word) => shapeOf(word) === '--')
  if (end < 0) return words.length
  const next = words[end + 1]
  const isOwn = !WRAPPER.test(baseName(shapeOf(words[0]))) || next?.pieces.some(isParameter)
  return isOwn ? end : end + 1 + endOfOptions(words.slice(end + 1))
}
