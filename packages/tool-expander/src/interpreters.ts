/** Index of a word that is program text, and who runs it. */
export type ProgramText = [index: number, interpreter: string]

/** Programs whose program text is a shell script. */
export const SHELL = /^(?:(?:ba|da|z|k|mk|a|fi)?sh|su|runuser|script|flock)$/

/** Programs that run text, and the option after which, or attached to which, it comes. */
const INTERPRETERS: readonly [name: RegExp, option: RegExp][] = [
  [SHELL, /^(?:[-+][A-Za-z]*c|--(?:session-)?command(?:=|$))/],
  [/^python[\d.]*$/, /^-[A-Za-z]*c/],
  [/^(?:node|nodejs|bun|deno)$/, /^(?:-[A-Za-z]*[ep]|--(?:eval|print)(?:=|$))/],
  [/^(?:perl|ruby)[\d.]*$/, /^-[A-Za-z\d]*[eE]/],
  [/^php[\d.]*$/, /^-[A-Za-z]*r/],
  [/^env$/, /^(?:-[A-Za-z]*S|--split-string(?:=|$))/],
]

/**
 * The words of one command that an interpreter runs as a program.
 *
 * Looks for interpreters at every position, because `env`, `xargs`, `timeout`, `find -exec` and many others run one.
 *
 * @param words - Each as `shapeOf` gives it.
 */
export function findProgramText(words: readonly string[]): ProgramText[] {
  return words.flatMap((word, index) => {
    const name = baseName(word)
    const option = INTERPRETERS.find(([known]) => known.test(name))?.[1]
    const found = option ? programOf(words, index, option) : name === 'ssh' ? remoteCommand(words, index) : []
    return found.map((place): ProgramText => [place, name])
  })
}

/** Where the program stands that `env`, `sudo` and the like run in the end. */
export function programIndex(words: readonly string[]): number {
  return words.findIndex(
    (word, index) => !RUNS_THE_REST.test(baseName(word)) && (index === 0 || !/^-|^\w+=/.test(word)),
  )
}

const RUNS_THE_REST = /^(?:env|sudo|doas|xargs|nice|nohup|setsid|stdbuf|time|exec|command|builtin)$/

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** From the option on to the first operand behind it, which is the program. */
function programOf(words: readonly string[], start: number, option: RegExp): number[] {
  const first = words.findIndex((word, index) => index > start && option.test(word))
  return first < 0 ? [] : [...words.keys()].slice(first, operandIndex(words, first) + 1)
}

/** The first word behind another that is neither an option nor what an option takes: with a shell, -o does. */
export function operandIndex(
  words: readonly string[],
  start: number,
  takesWord = /^(?:[-+]o|--rcfile)$/i,
): number {
  const index = words.findIndex(
    (word, place) => place > start && !/^[-+]/.test(word) && !takesWord.test(words[place - 1] ?? ''),
  )
  return index < 0 ? words.length : index
}

/** Everything behind ssh's destination is joined and run by a shell over there; `-o` can name a command, too. */
function remoteCommand(words: readonly string[], start: number): number[] {
  const destination = operandIndex(words, start, /^-[A-Za-z]*[BbcDEeFIiJLlmOopQRSWw]$/)
  return [...words.keys()].filter((index) => index > start && index !== destination)
}
