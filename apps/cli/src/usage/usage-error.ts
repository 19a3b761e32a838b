/** The command line itself is wrong; the message says what is meant. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'ERR_CLI_USAGE'
}
