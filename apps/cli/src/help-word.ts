import type { Command } from 'commander'

/**
 * `help tool expand` as `tool expand --help`. Of words that name no command, those up to the wrong one, which the parser
 * then refuses as it does without `help`: with the nearest name.
 */
export function withoutHelpWord(program: Command, argv: readonly string[]): readonly string[] {
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
