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

/**
 * What to say of a path whose bytes were not UTF-8: Node.js has replaced them, so it would name another directory than the
 * person did. Undefined for any other path.
 */
export function unreadableBytes(path: string): string | undefined {
  if (!path.includes('\ufffd')) return undefined
  return 'its name contains bytes that are not UTF-8, so it cannot be passed on.\nRename the directory, or name another one.'
}
