import type { Command } from 'commander'

/** What the parser is to read: of a request for help, only one that it answers as it was meant. */
export function asParserHelps(program: Command, argv: readonly string[]): readonly string[] {
  return withoutHelpOfNothing(program, withoutHelpWord(program, argv))
}

/**
 * `help tool expand` as `tool expand --help`. Of words that name no command, those up to the wrong one, which the parser
 * then refuses as it does without `help`: with the nearest name.
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

/** `rnu --help` as `rnu`, which the parser refuses; by itself it helps with what stands before the wrong word. */
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
