import type { Command } from 'commander'

/** Rewrites requests for help that the parser would answer otherwise than they were meant. */
export function asParserHelps(program: Command, argv: readonly string[]): readonly string[] {
  return withoutHelpOfNothing(program, withoutHelpWord(program, argv))
}

/**
 * Turns `help tool expand` into `tool expand --help`. If a word names no command, everything after it is dropped, so that
 * the parser refuses it as it would without `help`: with the nearest name.
 */
function withoutHelpWord(program: Command, argv: readonly string[]): readonly string[] {
  const [first, ...words] = argv
  if (first !== 'help' || words.length === 0) return argv
  let command = program
  for (const [index, word] of words.entries()) {
    const next = command.commands.find((candidate) => candidate.name() === word)
    if (next === undefined && command.commands.length > 0) return words.slice(0, index + 1)
    if (next === undefined) return [...words.slice(0, index), '--help'] // more words than its name has
    command = next
  }
  return [...words, '--help']
}

/** Turns `rnu --help` into `rnu`, which the parser refuses; otherwise it would print the help of what comes before `rnu`. */
function withoutHelpOfNothing(program: Command, argv: readonly string[]): readonly string[] {
  if (!argv.some((word) => word === '--help' || word === '-h')) return argv
  let command = program
  for (const [index, word] of argv.entries()) {
    if (word.startsWith('-') || command.commands.length === 0) return argv
    const next = command.commands.find((candidate) => candidate.name() === word)
    if (next === undefined) return argv.slice(0, index + 1)
    command = next
  }
  return argv
}
