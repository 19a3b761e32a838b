const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/

/**
 * Writes an argv as one line a person can paste into a POSIX shell.
 * Control characters stay as they are inside the quotes: the line runs exactly this command.
 */
export function quoteCommand(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ')
}

function quoteWord(word: string, index: number): string {
  const assignment = index === 0 && word.includes('=') // FOO=bar as the program, not as a setting
  if (PLAIN_WORD.test(word) && !assignment) return word
  return `'${word.replaceAll("'", `'\\''`)}'`
}
