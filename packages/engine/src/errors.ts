import type { WayOut } from '@delta/journal'

/** Why a run cannot start or continue, or be forked; each function names the codes that it throws. */
export type EngineErrorCode =
  | 'ERR_ENGINE_RUN_NOT_FOUND'
  | 'ERR_ENGINE_OTHER_WORKSPACE'
  | 'ERR_ENGINE_NO_AGENT'
  | 'ERR_ENGINE_MESSAGE_REQUIRED'
  | 'ERR_ENGINE_NO_RETRY'
  | 'ERR_ENGINE_NO_CREDENTIALS'
  | 'ERR_ENGINE_NO_PRICE'
  | 'ERR_ENGINE_NOT_WAITING'
  | 'ERR_ENGINE_NO_ANSWER'
  | 'ERR_ENGINE_IMPORTED'
  | 'ERR_ENGINE_REPLAY'
  | 'ERR_ENGINE_TOO_DEEP'
  | 'ERR_ENGINE_FORK_AT'
  | 'ERR_ENGINE_FORK_FILES'
  | 'ERR_ENGINE_FORK_INTO'
  | 'ERR_ENGINE_USAGE'

/**
 * What a person can do about an error: a `WayOut` of the journal, or
 * - `message`: continue with a message.
 * - `agent`: name the agent's directory.
 * - `without_files`: fork the conversation alone.
 */
export type EngineWayOut = WayOut | 'message' | 'agent' | 'without_files'

/** The engine cannot start or continue a run. Branch on `code`; show `message` to people. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code: EngineErrorCode
  /** The directory of the run at fault; undefined when no single run is. */
  readonly path: string | undefined
  /** Undefined when `message` says what to do. */
  readonly wayOut: EngineWayOut | undefined

  constructor(
    code: EngineErrorCode,
    message: string,
    { path, wayOut, cause }: { path?: string; wayOut?: EngineWayOut; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.code = code
    this.path = path
    this.wayOut = wayOut
  }
}

/** True for an `EngineError` of any installed copy of this package. */
export function isEngineError(error: unknown): error is EngineError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_ENGINE_')
}
