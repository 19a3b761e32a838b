import { baseName, isShell, mayStartAnother, namesOf, SHELL_TEXT } from './programs.js'
import { isParameter, type Part, type Placeholder } from './template.js'

/** A word of a command. */
export interface CommandWord {
  /** Null is what only a shell knows. */
  pieces: readonly (Part | null)[]
  /** Its pieces as `shapeOf` gives them. */
  shape: string
}

/** A word as text, with a NUL for each piece that is not fixed. */
export function shapeOf(pieces: CommandWord['pieces']): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : '\0')).join('')
}

/** Programs whose first `--` makes an option of nothing they pass on, or, for `find`, of nothing at all. */
export const PASSES_ON = namesOf(
  'bun cargo find npm pnpm yarn dotnet tox nox bazel nix turbo nx composer stack cabal deno',
)

/**
 * Calls back for each value that can begin a word which a program may take for an option.
 *
 * A `--` protects the values behind it; that of a program which starts another one only up to the next fixed word.
 */
export function forLeadingValues<Word extends CommandWord>(
  words: readonly Word[],
  note: (value: Placeholder, word: Word) => void,
): void {
  let unprotected: number | undefined
  let isProtected = false
  for (const word of words) {
    const { pieces, shape } = word
    if (pieces.some(isParameter)) {
      if (!isProtected)
        for (const value of pieces) if (isParameter(value) && value.leads && !value.raw) note(value, word)
    } else if (shape === '--') {
      unprotected ??= countIdle(words)
      isProtected = unprotected-- < 1
    } else isProtected &&= shape.startsWith('-') || !mayStartAnother(words[0]?.shape)
  }
}

/** How many `--` of a command protect nothing. */
function countIdle(words: readonly CommandWord[]): number {
  const isRun = mayStartAnother(words[0]?.shape) ? words : words.slice(0, 1)
  // Behind the script of a shell it is $0.
  const isScript =
    isRun.some(({ shape }) => isShell(shape)) && words.some(({ shape }) => SHELL_TEXT.test(shape))
  if (isScript) return Infinity
  return isRun.some(({ shape }) => PASSES_ON.has(baseName(shape))) ? 1 : 0
}
