/** Index of a word that is program text, and who runs it. */
export type ProgramText = [index: number, interpreter: string]

interface Interpreter {
  name: RegExp
  /** The option after which, or attached to which, program text comes. */
  option: RegExp
}

const INTERPRETERS: readonly Interpreter[] = [
  { name: /^(?:ba|da|z|k|mk|a|fi)?sh$/, option: /^[-+][A-Za-z]*c/ },
  { name: /^(?:su|runuser|script|flock)$/, option: /^(?:-[A-Za-z]*c|--(?:command|session-command)(?:=|$))/ },
  { name: /^python[\d.]*$/, option: /^-[A-Za-z]*c/ },
  { name: /^(?:node|nodejs|bun|deno)$/, option: /^(?:-[A-Za-z]*[ep]|--(?:eval|print)(?:=|$))/ },
  { name: /^(?:perl|ruby)[\d.]*$/, option: /^-[A-Za-z\d]*[eE]/ },
  { name: /^php[\d.]*$/, option: /^-[A-Za-z]*r/ },
  { name: /^env$/, option: /^(?:-[A-Za-z]*S|--split-string(?:=|$))/ },
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
    const indexes =
      name === 'ssh'
        ? remoteCommand(words, index)
        : INTERPRETERS.filter((known) => known.name.test(name)).flatMap(({ option }) =>
            programOf(words, index, option),
          )
    return indexes.map((found): ProgramText => [found, name])
  })
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function programOf(words: readonly string[], start: number, option: RegExp): number[] {
  const first = words.findIndex((word, index) => index > start && option.test(word))
  if (first === -1) return []
  // The program is the first word behind that is neither an option nor the word -o takes.
  const last = words.findIndex(
    (word, index) => index > first && !/^[-+]/.test(word) && !/^[-+]o$/i.test(words[index - 1] ?? ''),
  )
  return range(first, last === -1 ? words.length : last + 1)
}

/** Everything behind ssh's destination is joined and run by a shell over there; `-o` can name a command, too. */
function remoteCommand(words: readonly string[], start: number): number[] {
  let destination = start + 1
  while (/^-./.test(words[destination] ?? '')) {
    destination += /^-[A-Za-z]*[BbcDEeFIiJLlmOopQRSWw]$/.test(words[destination] ?? '') ? 2 : 1
  }
  return range(start + 1, words.length).filter((index) => index !== destination)
}

function range(start: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - start) }, (_, index) => start + index)
}
