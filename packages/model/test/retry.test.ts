import { expect, test } from 'vitest'
import { parseRetryAfter } from '../src/errors.js'
import { ModelError, retryDelayMs } from '../src/index.js'

const failed = (retryAfterMs?: number) =>
  new ModelError('ERR_MODEL_SERVER', 'x', { retryAfterMs, retryable: true })
const least = { random: () => 0.999 }
const most = { random: () => 0 }

test('each delay is twice the one before, up to 30 seconds', () => {
  const delays = [1, 2, 3, 4, 7, 20].map((attempt) => retryDelayMs(attempt, failed(), most))
  expect(delays).toEqual([500, 1000, 2000, 4000, 30_000, 30_000])
})

test('up to half of a delay is left out at random', () => {
  expect(retryDelayMs(3, failed(), least)).toBe(1001)
  const delays = new Set(Array.from({ length: 50 }, () => retryDelayMs(10, failed())))
  expect(delays.size).toBeGreaterThan(10)
  for (const delay of delays) expect(delay).toBeGreaterThanOrEqual(15_000)
})

test('what the server asks for is obeyed, without jitter, up to five minutes', () => {
  expect(retryDelayMs(1, failed(0))).toBe(0)
  expect(retryDelayMs(5, failed(7000))).toBe(7000)
  expect(retryDelayMs(1, failed(300_000))).toBe(300_000)
  expect(retryDelayMs(1, failed(300_001))).toBeUndefined()
})

test('what cannot pass is not tried again', () => {
  expect(retryDelayMs(1, new ModelError('ERR_MODEL_ACCESS', 'x'), { maxWaitMs: 1e9 })).toBeUndefined()
})

test.each([
  [{ statusCode: 503 }, true],
  [{ status: 429 }, true],
  [{ statusCode: 400 }, false],
  [{ statusCode: 503, isRetryable: false }, false],
  [{ isRetryable: false }, false],
  [{ retryable: true }, true],
  [{}, false],
])('an error of another client that says %j is tried again: %j', (hints, expected) => {
  const error = Object.assign(new Error('Busy.'), hints)
  expect(retryDelayMs(1, error, most)).toBe(expected ? 500 : undefined)
})

test('with a time to wait the steps go up to a minute, while they fit', () => {
  const patient = { ...most, maxWaitMs: 100_000 }
  expect(retryDelayMs(7, failed(), patient)).toBe(32_000)
  expect(retryDelayMs(2000, failed(), patient)).toBe(60_000)
  expect(retryDelayMs(20, failed(), { ...patient, waitedMs: 40_000 })).toBe(60_000)
  expect(retryDelayMs(20, failed(), { ...patient, waitedMs: 40_001 })).toBeUndefined()
  expect(retryDelayMs(1, failed(), { ...most, maxWaitMs: 0 })).toBeUndefined()
})

test('and what the server asks for is obeyed in full, also after an error that is not worth another try at once', () => {
  const later = new ModelError('ERR_MODEL_SERVER', 'x', { retryAfterMs: 10_800_000 })
  expect(retryDelayMs(1, later)).toBeUndefined()
  expect(retryDelayMs(1, later, { maxWaitMs: 21_600_000 })).toBe(10_800_000)
  expect(retryDelayMs(1, later, { maxWaitMs: 21_600_000, waitedMs: 20_000_000 })).toBeUndefined()
})

test.each([
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after': '7', 'retry-after-ms': '20' }, 20],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' }, 50_000],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:01 GMT' }, 0],
  [{ 'retry-after': '-5' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
] as const)('Retry-After %j is %j milliseconds', (headers: Record<string, string>, expected) => {
  expect(parseRetryAfter((name) => headers[name], 10_000)).toBe(expected)
})
