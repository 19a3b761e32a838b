import { expect, test } from 'vitest'
import { conclude } from '../src/outcome.js'

/** Milliseconds, the least of three. */
function time(content: string): number {
  const times = [1, 2, 3].map(() => {
    const start = performance.now()
    conclude({ content, iteration: 1, finish_reason: 'stop' }, { acceptEmpty: false })
    return performance.now() - start
  })
  return Math.min(...times)
}

test('of a model that writes empty lines without end, four times as many do not take ten times as long', () => {
  const [few = 0, many = 0] = [20_000, 80_000].map((lines) => time(`${'\n'.repeat(lines)}x`))
  expect(many).toBeLessThan(10 * few)
})
