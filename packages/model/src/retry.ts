import type { ModelError } from './errors.js'
import { LONGEST_TIMER_MS } from './silence.js'

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 30_000
const LONGEST_PATIENT_DELAY_MS = 60_000
/** Without `maxWaitMs` nobody waits longer than this; the run can be continued later instead. */
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
 * @returns Milliseconds; undefined: give up.
 */
export function retryDelayMs(
  attempt: number,
  error: ModelError,
  { maxWaitMs, waitedMs = 0, random = Math.random }: Patience = {},
): number | undefined {
  if (!error.retryable && error.retryAfterMs === undefined) return undefined
  const isPatient = maxWaitMs !== undefined
  const step = Math.min(
    FIRST_DELAY_MS * 2 ** (attempt - 1),
    isPatient ? LONGEST_PATIENT_DELAY_MS : LONGEST_DELAY_MS,
  )
  const delayMs = error.retryAfterMs ?? Math.round(step * (1 - random() / 2))
  const leftMs = isPatient ? Math.min(maxWaitMs, LONGEST_TIMER_MS) - waitedMs : LONGEST_OBEYED_MS
  return delayMs <= leftMs ? delayMs : undefined
}

/**
 * Reads `retry-after-ms`, or `retry-after` as seconds or as an HTTP date, or `x-ratelimit-reset` as a Unix time.
 *
 * @returns Milliseconds from `now`, at least 0; undefined when no header says anything.
 */
export function parseRetryAfter(
  header: (name: string) => string | null | undefined,
  now: number = Date.now(),
): number | undefined {
  const milliseconds = readNumber(header('retry-after-ms'))
  if (milliseconds !== undefined) return milliseconds
  const value = header('retry-after')
  const seconds = readNumber(value)
  if (seconds !== undefined) return seconds * 1000
  const date = /^[A-Z][a-z]{2}/.test(value ?? '') ? Date.parse(value ?? '') : Number.NaN
  const until = Number.isNaN(date) ? unixTime(header('x-ratelimit-reset')) : date
  return until === undefined ? undefined : Math.max(0, until - now)
}

/** In seconds or in milliseconds. A small number is not a time: servers differ in what it counts. */
function unixTime(value: string | null | undefined): number | undefined {
  const time = readNumber(value) ?? 0
  if (time < 1e9) return undefined
  return time < 1e11 ? time * 1000 : time
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/**
 * Reads the wait that a server asks for only in the words of its message: `Please try again in 1m7.5s.`
 *
 * @returns Milliseconds; undefined when it asks for none.
 */
export function waitInWords(text: string): number | undefined {
  const [, said] = /\b(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|[hms]))+)\b/i.exec(text) ?? []
  return said === undefined ? undefined : timeInWords(said)
}

/** The milliseconds of `1m7.5s` or `6h`: each number with its unit. */
export function timeInWords(text: string): number {
  const times = text.toLowerCase().matchAll(/([\d.]+)(ms|[hms])/g)
  return [...times].reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0)
}

function readNumber(value: string | null | undefined): number | undefined {
  return /^\s*\d+(\.\d+)?\s*$/.test(value ?? '') ? Number(value) : undefined
}
