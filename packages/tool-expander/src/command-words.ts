import { baseName, mayStartAnother, namesOf } from './programs.js'
import { isParameter, type Part, type Placeholder } from './template.js'

/** A word of a command in pieces; null is what only a shell knows. */
export interface CommandWord {
  pieces: readonly (Part | null)[]
}

/** A word as text, with a NUL for each piece that is not fixed. */
export function shapeOf(word: CommandWord | undefined): string {
  return word?.pieces.map((piece) => (typeof piece === 'string' ? piece : '\0')).join('') ?? ''
}

/** Programs whose first `--` makes an option of nothing they pass on, or, for `find`, of nothing at all. */
const PASSES_ON = namesOf('bun cargo find npm pnpm yarn')

/**
 * Calls back for each value that can begin a word which a program may take for an option.
 *
 * A `--` protects the values behind it; that of a program which starts another one only up to the next fixed word.
 */
export function forLeadingValues<Word extends CommandWord>(
  words: readonly Word[],
  note: (value: Placeholder, word: Word) => void,
): void {
  const shapes = words.map(shapeOf)
  const startsAnother = mayStartAnother(shapes)
  const isRun = startsAnother ? shapes : shapes.slice(0, 1)
  let unprotected = isRun.some((shape) => PASSES_ON.has(baseName(shape))) ? 1 : 0
  let isProtected = false
  for (const word of words) {
    const values = word.pieces.filter(isParameter)
    const shape = shapeOf(word)
    if (values.length === 0 && shape === '--') isProtected = unprotected-- < 1
    else if (values.length === 0 && startsAnother && !shape.startsWith('-')) isProtected = false
    else if (!isProtected) for (const value of values) if (value.leads && !value.raw) note(value, word)
  }
}
