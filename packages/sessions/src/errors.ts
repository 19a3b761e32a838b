/** The functions say which of these codes they throw, and when. */
export type SessionErrorCode =
  | 'ERR_SESSION_ID'
  | 'ERR_SESSION_UNKNOWN'
  | 'ERR_SESSION_PROGRAM'
  | 'ERR_SESSION_COMMAND'
  | 'ERR_SESSION_DAMAGED'
  | 'ERR_SESSION_ABORTED'
  | 'ERR_SESSION_BUSY'

/** Branch on `code`; show `message` to people. What a command does is a result, never an error. */
export class SessionError extends Error {
  override readonly name = 'SessionError'

  constructor(
    readonly code: SessionErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}

/** A file of a session is missing, or is not what we wrote. */
export function damaged(path: string, cause?: unknown, wayOut = ''): SessionError {
  const message = `${path}: damaged, so the session cannot be used. End it and start a new one.${wayOut}`
  return new SessionError('ERR_SESSION_DAMAGED', message, { cause })
}

/** True for the errors of this package, also from a second installed copy. */
export function isSessionError(error: unknown): error is SessionError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_SESSION_')
}

/** The code of an error (`ENOENT`), to catch exactly the expected one. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/**
 * Does something that remains to do after a command has run. A system error (a full disk, say) is not thrown, because the
 * caller needs the command's result.
 *
 * @returns A notice, `otherwise` and the reason, if it failed.
 */
export function noticeUnless(done: () => void, otherwise: string): string[] {
  try {
    done()
    return []
  } catch (error) {
    if (systemCode(error) === undefined) throw error
    return [`${otherwise}: ${(error as Error).message}`]
  }
}
