import type { Command } from 'commander'

/** What commands of other programs are called, by the words that people bring from there. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['resume', 'continue'],
  ['logs', 'show'],
  ['ls', 'list-runs'],
])

/**
 * The typed words as commander is to read them. Refuses, as commander refuses, what it would take for something else: it shows the
 * help of a group for `delta tool nope --help`, and reads `-m=hi` as the message `=hi`.
 */
export function readTypedWords(program: Command, typed: readonly string[]): string[] {
  const words = typed[0] === 'help' ? [...typed.slice(1), '--help'] : [...typed]
  let command = program
  for (const [index, word] of words.entries()) {
    if (command.commands.length === 0 || word.startsWith('-')) {
      refuseStrayWords(command, words.slice(index))
      break
    }
    const next = command.commands.find((each) => each.name() === word)
    if (next === undefined) {
      const name = command === program ? OTHER_NAMES.get(word) : undefined
      if (name !== undefined) program.error(`error: unknown command '${word}'. It is called ${name} here.`)
      return words.slice(0, index + 1) // commander refuses it, and names the nearest
    }
    command = next
  }
  return words
}

/** Refuses a value that is glued to a one-letter option, and words beside an option for a message. */
function refuseStrayWords(command: Command, words: readonly string[]): void {
  const takesValue = (name: string) => optionOf(command, name)?.required === true
  const stray: string[] = []
  let isValue = false
  for (const word of words) {
    if (isValue) isValue = false
    else if (word === '--help' || word === '-h') return
    else if (word === '--') break
    else if (/^-[^-]/.test(word)) {
      const letters = [...word.slice(1)].map((letter) => `-${letter}`)
      const at = letters.findIndex(takesValue)
      isValue = at === letters.length - 1 && at >= 0
      const isGlued = at >= 0 && !isValue && letters.slice(0, at).every((name) => optionOf(command, name))
      if (isGlued) refuseGlued(command, word, letters[at] ?? '')
    } else if (word.startsWith('--')) isValue = takesValue(word)
    else stray.push(word)
  }
  if (stray.length > 0 && optionOf(command, '-m') && command.registeredArguments.length === 0)
    command.error(`error: unexpected '${stray.join(' ')}'. A message goes behind -m, in quotes: -m "…"`)
}

function refuseGlued(command: Command, word: string, name: string): never {
  const [short, long] = (optionOf(command, name)?.flags ?? '').split(', ')
  const value = long?.split(' ')[1]
  return command.error(
    `error: '${word}': a value is not written onto ${short}. Write ${short} ${value}, or ${long}`,
  )
}

function optionOf({ options }: Command, name: string) {
  return options.find(({ short, long }) => name === short || name === long)
}
