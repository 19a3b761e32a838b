/** What went wrong; the README says which of them are worth another try. */
export type ModelErrorCode =
  /** No connection, or it broke. A model that is a command did not start, or failed. */
  | 'ERR_MODEL_CONNECTION'
  /** The server sent nothing of an answer for `timeoutMs`. */
  | 'ERR_MODEL_TIMEOUT'
  /** The caller's signal. */
  | 'ERR_MODEL_ABORTED'
  /** 429: too many requests. */
  | 'ERR_MODEL_RATE_LIMIT'
  /** 429 or 402: the account is out of money, so waiting does not help. */
  | 'ERR_MODEL_QUOTA'
  /** 408, 409, 5xx. */
  | 'ERR_MODEL_SERVER'
  /** 401, 403: the key, or what it may do. */
  | 'ERR_MODEL_ACCESS'
  /** 404: no such model or address. */
  | 'ERR_MODEL_NOT_FOUND'
  /** 400 and the other 4xx: the request itself. */
  | 'ERR_MODEL_REQUEST'
  /** 413, or an error that says so: the conversation is too long for the model. */
  | 'ERR_MODEL_TOO_LONG'
  /** The answer is not a completion: cut off, a web page, no choices. */
  | 'ERR_MODEL_RESPONSE'
  /** The settings cannot work: an invalid base URL, the `openai` package not installed. */
  | 'ERR_MODEL_SETTINGS'
  /** A scripted or recorded conversation has no further turn. */
  | 'ERR_MODEL_SCRIPT_END'
  /** A request that differs from the recorded one. */
  | 'ERR_MODEL_REPLAY_DIFFERS'

/** The properties of a `ModelError` besides its code. */
export interface ModelErrorDetails {
  status?: number | undefined
  retryable?: boolean | undefined
  retryAfterMs?: number | undefined
  usage?: Readonly<Record<string, unknown>> | null | undefined
  model?: string | undefined
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
  /** How long the server asks to wait, in milliseconds. More than 5 minutes make an error not `retryable`. */
  readonly retryAfterMs: number | undefined
  /** What the answer said that it cost, as the server spells it: it was paid for, and cannot be used. Null: it had begun, and did not say it. */
  readonly usage: Readonly<Record<string, unknown>> | null | undefined
  /** The model that such an answer names. */
  readonly model: string | undefined

  constructor(code: ModelErrorCode, message: string, details: ModelErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status
    this.retryable = details.retryable ?? false
    this.retryAfterMs = details.retryAfterMs
    this.usage = details.usage
    this.model = details.model
  }
}

/** True for a `ModelError`, also for one of another installed copy of this package. */
export function isModelError(error: unknown): error is ModelError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_MODEL_')
}

/** Node.js treats a longer time as 1 ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The longest `Retry-After` that is obeyed without `maxWaitMs`. The run can be continued later instead. */
export const LONGEST_OBEYED_MS = 300_000

/** How patient `retryDelayMs` is. */
export interface Patience {
  /** How long one request is tried again, counted from its first failure. */
  readonly maxWaitMs?: number | undefined
  /** How much of that has passed. Default 0. */
  readonly waitedMs?: number | undefined
  /** 0 ≤ x < 1. Default `Math.random`. */
  readonly random?: () => number
}

/**
 * How long to wait before the next attempt: 0.5 s, 1 s, 2 s … up to 30 s, or up to 60 s with `maxWaitMs`. A random half is left
 * out, so that many runs on one machine do not come back together. A server's `Retry-After` is obeyed instead, up to 5 minutes,
 * or with `maxWaitMs` while it fits.
 *
 * @param attempt - The attempt that failed, 1 for the first.
 * @param error - What was thrown: a `ModelError`, or an error of another client. Of that `retryable` or `isRetryable` decides,
 *   else its `status` or `statusCode`: 408, 409, 429 and 5xx may pass.
 * @returns Milliseconds; undefined: give up.
 *
 * @example
 * const delayMs = attempt < 5 ? retryDelayMs(attempt, error) : undefined
 * if (delayMs === undefined) throw error
 */
export function retryDelayMs(
  attempt: number,
  error: unknown,
  { maxWaitMs, waitedMs = 0, random = Math.random }: Patience = {},
): number | undefined {
  const hints = Object(error) as RetryHints
  if (!mayPass(hints) && hints.retryAfterMs === undefined) return undefined
  const isPatient = maxWaitMs !== undefined
  const step = Math.min(500 * 2 ** (attempt - 1), isPatient ? 60_000 : 30_000)
  const delayMs = hints.retryAfterMs ?? Math.round(step * (1 - random() / 2))
  const leftMs = isPatient ? Math.min(maxWaitMs, LONGEST_TIMER_MS) - waitedMs : LONGEST_OBEYED_MS
  return delayMs <= leftMs ? delayMs : undefined
}

/** The fields in which the usual clients say whether another attempt may succeed. */
interface RetryHints {
  readonly retryable?: unknown
  readonly isRetryable?: unknown
  readonly status?: unknown
  readonly statusCode?: unknown
  readonly retryAfterMs?: number | undefined
}

function mayPass({ retryable, isRetryable, status, statusCode }: RetryHints): boolean {
  const said = retryable ?? isRetryable
  if (typeof said === 'boolean') return said
  const code = Number(status ?? statusCode)
  return code === 408 || code === 409 || code === 429 || code >= 500
}

/**
 * Reads `retry-after-ms`, or `retry-after` as seconds or as an HTTP date.
 *
 * @returns Milliseconds from `now`, at least 0; undefined when no header says anything.
 */
export function parseRetryAfter(
  header: (name: string) => string | null | undefined,
  now: number = Date.now(),
): number | undefined {
  const milliseconds = readNumber(header('retry-after-ms'))
  if (milliseconds !== undefined) return milliseconds
  const value = header('retry-after') ?? ''
  const seconds = readNumber(value)
  if (seconds !== undefined) return seconds * 1000
  const date = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function readNumber(value: string | null | undefined): number | undefined {
  return /^\s*\d+(\.\d+)?\s*$/.test(value ?? '') ? Number(value) : undefined
}

/**
 * Reads the wait in a server's message: `Please try again in 1m7.5s.`
 *
 * @returns Milliseconds; undefined when it asks for none.
 */
export function waitInWords(text: string): number | undefined {
  const [, said] = /\b(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|[hms]))+)\b/i.exec(text) ?? []
  return said === undefined ? undefined : timeInWords(said)
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The milliseconds of `1m7.5s` or `6h`: each number with its unit. A number is milliseconds already. */
export function timeInWords(text: string | number): number {
  if (typeof text === 'number') return text
  const times = text.toLowerCase().matchAll(/([\d.]+)(ms|[hms])/g)
  return [...times].reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0)
}
