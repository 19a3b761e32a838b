/** The command line itself is wrong; the message says what is meant. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'ERR_CLI_USAGE'
}

/** The value of a flag that is a whole number of at least 1. */
export function wholeNumber(flag: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`${flag} ${text}: give a whole number of at least 1.`)
}

/** Where bugs in this program are reported. */
export const ISSUES = 'https://github.com/delta-engine/delta/issues'
