/** Index of a word that is program text, and who runs it. */
export type ProgramText = [index: number, interpreter: string]

/** A set of names. Looking one up costs less than a pattern, which is compiled first. */
export function namesOf(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

/** Programs whose program text is a shell script. */
export const SHELLS = namesOf('sh bash dash zsh ksh mksh ash fish su runuser script flock')
const SHELL_OPTION = /^(?:[-+][A-Za-z]*c|--(?:session-)?command(?:=|$))/
const NODE_OPTION = /^(?:-[A-Za-z]*[ep]|--(?:eval|print)(?:=|$))/
const PERL_OPTION = /^-[A-Za-z\d]*[eE]/

/** Other programs that run text, without their version, and the option after which, or attached to which, it comes. */
const INTERPRETERS = new Map([
  ['python', /^-[A-Za-z]*c/],
  ['node', NODE_OPTION],
  ['nodejs', NODE_OPTION],
  ['bun', NODE_OPTION],
  ['deno', NODE_OPTION],
  ['perl', PERL_OPTION],
  ['ruby', PERL_OPTION],
  ['php', /^-[A-Za-z]*r/],
  ['env', /^(?:-[A-Za-z]*S|--split-string(?:=|$))/],
])

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
    const option = SHELLS.has(name) ? SHELL_OPTION : INTERPRETERS.get(name.replace(/[\d.]+$/, ''))
    const found = option ? programOf(words, index, option) : name === 'ssh' ? remoteCommand(words, index) : []
    return found.map((place): ProgramText => [place, name])
  })
}

/** Where the program stands that `env`, `sudo` and the like run in the end. */
export function programIndex(words: readonly string[]): number {
  return words.findIndex(
    (word, index) => !RUNS_THE_REST.has(baseName(word)) && (index === 0 || !/^-|^\w+=/.test(word)),
  )
}

const RUNS_THE_REST = namesOf('env sudo doas xargs nice nohup setsid stdbuf time exec command builtin')

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
