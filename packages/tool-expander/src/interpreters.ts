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
 * @param words - The fixed text each word begins with; '' for one that begins with a value.
 */
export function findProgramText(words: readonly string[]): ProgramText[] {
  return words.flatMap((word, index) => {
    const name = baseName(word)
    const option = INTERPRETERS.find(([known]) => known.test(name))?.[1]
    const found = option ? programOf(words, index, option) : name === 'ssh' ? remoteCommand(words, index) : []
    return found.map((place): ProgramText => [place, name])
  })
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function programOf(words: readonly string[], start: number, option: RegExp): number[] {
  const first = words.findIndex((word, index) => index > start && option.test(word))
  // The program is the first word behind that is neither an option nor the word -o takes.
  const last = words.findIndex(
    (word, index) => index > first && !/^[-+]/.test(word) && !/^[-+]o$/i.test(words[index - 1] ?? ''),
  )
  return first < 0 ? [] : [...words.keys()].slice(first, last < 0 ? words.length : last + 1)
}

/** Everything behind ssh's destination is joined and run by a shell over there; `-o` can name a command, too. */
function remoteCommand(words: readonly string[], start: number): number[] {
  let destination = start + 1
  for (let word = words[destination] ?? ''; /^-./.test(word); word = words[destination] ?? '') {
    destination += /^-[A-Za-z]*[BbcDEeFIiJLlmOopQRSWw]$/.test(word) ? 2 : 1
  }
  return [...words.keys()].filter((index) => index > start && index !== destination)
}
