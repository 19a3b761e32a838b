import { expect, test } from 'vitest'
import { ModelError, retryDelayMs } from '../src/index.js'
import { parseRetryAfter } from '../src/server/retry.js'

const failed = (retryAfterMs?: number) => new ModelError('ERR_MODEL_SERVER', 'x', { retryAfterMs })
const least = () => 0.999
const most = () => 0

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
  expect(retryDelayMs(1, failed(86_400_000))).toBe(300_000)
})

test.each([
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after': '7', 'retry-after-ms': '20' }, 20],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' }, 50_000],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:01 GMT' }, 0],
  [{ 'retry-after': '-5' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'x-ratelimit-reset': '1700000007' }, 7000],
  [{ 'x-ratelimit-reset': '1700000007500' }, 7500],
  [{ 'x-ratelimit-reset': '7' }, undefined],
  [{}, undefined],
] as const)('Retry-After %j is %j milliseconds', (headers: Record<string, string>, expected) => {
  expect(
    parseRetryAfter((name) => headers[name], headers['x-ratelimit-reset'] ? 1_700_000_000_000 : 10_000),
  ).toBe(expected)
})
