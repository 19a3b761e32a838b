/** A word that is program text, and for whom. */
export interface ProgramText {
  index: number
  interpreter: string
}

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
    const base = word.slice(word.lastIndexOf('/') + 1)
    if (base === 'ssh') return remoteCommand(words, index)
    return INTERPRETERS.filter(({ name }) => name.test(base)).flatMap((known) =>
      programOf(words, index, known, base),
    )
  })
}

function programOf(
  words: readonly string[],
  start: number,
  { option }: Interpreter,
  name: string,
): ProgramText[] {
  const optionIndex = words.findIndex((word, index) => index > start && option.test(word))
  if (optionIndex === -1) return []
  const found = [{ index: optionIndex, interpreter: name }]
  for (let index = optionIndex + 1; index < words.length; index++) {
    found.push({ index, interpreter: name })
    if (!/^[-+]/.test(words[index] ?? '') && !/^[-+]o$/i.test(words[index - 1] ?? '')) break
  }
  return found
}

/** Everything after ssh's destination is joined and run by a shell over there; `-o` can name a command, too. */
function remoteCommand(words: readonly string[], start: number): ProgramText[] {
  let index = start + 1
  const found: ProgramText[] = []
  while (/^-./.test(words[index] ?? '')) {
    const takesNext = /^-[A-Za-z]*[BbcDEeFIiJLlmOopQRSWw]$/.test(words[index] ?? '')
    found.push({ index, interpreter: 'ssh' })
    if (takesNext) found.push({ index: index + 1, interpreter: 'ssh' })
    index += takesNext ? 2 : 1
  }
  for (index += 1; index < words.length; index++) found.push({ index, interpreter: 'ssh' })
  return found
}
