/** Why there is no answer. */
export type ModelErrorCode =
  /** No connection, or it broke; of a model that is a command: it did not start, or failed. */
  | 'ERR_MODEL_CONNECTION'
  /** The server was silent for too long. */
  | 'ERR_MODEL_TIMEOUT'
  /** The caller's signal. */
  | 'ERR_MODEL_ABORTED'
  /** 429: too many requests. */
  | 'ERR_MODEL_RATE_LIMIT'
  /** 429 or 402, and waiting will not help: the account is out of money. */
  | 'ERR_MODEL_QUOTA'
  /** 408, 409, 5xx. */
  | 'ERR_MODEL_SERVER'
  /** 401, 403: the key, or what it may do. */
  | 'ERR_MODEL_ACCESS'
  /** 404: no such model or address. */
  | 'ERR_MODEL_NOT_FOUND'
  /** 400 and the other 4xx: the request itself. */
  | 'ERR_MODEL_REQUEST'
  /** 413, or words that say so: the conversation is longer than the model can take. */
  | 'ERR_MODEL_TOO_LONG'
  /** The answer is not a completion: cut off, a web page, no choices. */
  | 'ERR_MODEL_RESPONSE'
  /** The settings cannot work: an invalid base URL, the `openai` package not installed. */
  | 'ERR_MODEL_SETTINGS'
  /** A scripted or recorded conversation has no further turn. */
  | 'ERR_MODEL_SCRIPT_END'
  /** A request that differs from the recorded one. */
  | 'ERR_MODEL_REPLAY_DIFFERS'

/** What a `ModelError` holds besides its code; see its properties. */
export interface ModelErrorDetails {
  status?: number | undefined
  retryable?: boolean | undefined
  retryAfterMs?: number | undefined
  cause?: unknown
}

/** Branch on `code` and `retryable`; show `message` to people: where, what, what to do. It never holds a key. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: ModelErrorCode
  /** The HTTP status, when there was an answer. */
  readonly status: number | undefined
  /** Whether the same request may succeed a little later. */
  readonly retryable: boolean
  /** How long the server asked to wait, in milliseconds. An error of a server that asks for more than 5 minutes is not `retryable`. */
  readonly retryAfterMs: number | undefined

  constructor(code: ModelErrorCode, message: string, details: ModelErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status
    this.retryable = details.retryable ?? false
    this.retryAfterMs = details.retryAfterMs
  }
}

/** Looks at the error itself, so it holds across two installed copies of this package. */
export function isModelError(error: unknown): error is ModelError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_MODEL_')
}
