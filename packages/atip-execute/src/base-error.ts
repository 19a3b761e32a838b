/** The base of all errors here. Branch on `code` or on the class; show `message` to people. */
export class AtipExecuteError extends Error {
  override readonly name: string = 'AtipExecuteError'

  constructor(
    message: string,
    readonly code: string,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}
