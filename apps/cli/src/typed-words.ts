import type { Command, Option } from 'commander'

/**
 * The typed words as commander is to read them. Refuses, as commander refuses, what it would take for something else: it shows the
 * help of a group for `delta tool nope --help`, and reads `-m=hi` as the message `=hi`.
 */
export function readTypedWords(program: Command, words: readonly string[]): readonly string[] {
  let command = program
  for (const [index, word] of words.entries()) {
    if (command.commands.length === 0 || word.startsWith('-')) {
      refuseStrayWords(command, words.slice(index))
      break
    }
    if (word === 'help') return readTypedWords(program, [...words.toSpliced(index, 1), '--help'])
    const next = command.commands.find((each) => each.name() === word)
    if (next === undefined) return words.slice(0, index + 1) // commander refuses it, and names the nearest
    command = next
  }
  return words
}

/**
 * Refuses a value that is glued to a one-letter option, and words beside an option for a message. Commander refuses unknown
 * options.
 */
function refuseStrayWords(command: Command, words: readonly string[]): void {
  const stray: string[] = []
  let isValue = false
  for (const word of words) {
    if (isValue) isValue = false
    else if (word === '--help' || word === '-h') return
    else if (word === '--') break
    else if (!/^-./.test(word)) stray.push(word)
    else {
      const option = word.startsWith('--') ? longOption(command, word) : lastOfLetters(command, word)
      if (option === undefined) return
      isValue = option.required && !word.includes('=')
    }
  }
  if (stray.length > 0 && optionOf(command, '-m') && command.registeredArguments.length === 0)
    command.error(`error: unexpected '${stray.join(' ')}'. A message goes behind -m, in quotes: -m "…"`)
}

const longOption = (command: Command, word: string) => optionOf(command, word.replace(/=.*/s, ''))

/** The option that may take the next word: `-m` in `-qvm`. */
function lastOfLetters(command: Command, word: string): Option | undefined {
  const letters = [...word.slice(1)]
  for (const [index, letter] of letters.entries()) {
    const option = optionOf(command, `-${letter}`)
    const isLast = index === letters.length - 1
    if (option === undefined || isLast) return option
    if (option.required) refuseGlued(command, word, option)
  }
  return undefined
}

function refuseGlued(command: Command, word: string, { flags }: Option): never {
  const [short, long] = flags.split(', ')
  const value = long?.split(' ')[1]
  return command.error(
    `error: '${word}': a value is not written onto ${short}. Write ${short} ${value}, or ${long}`,
  )
}

function optionOf({ options }: Command, name: string): Option | undefined {
  return options.find(({ short, long }) => name === short || name === long)
}
