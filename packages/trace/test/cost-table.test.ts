import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TokenSum } from '@delta/journal/runs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Cost, type CostKey, cacheMisses, costTable, openTrace } from '../src/index.js'
import { all, calling, journalOf, place, request, result, type Said, start, user } from './runs.js'

const KEYS: readonly CostKey[] = ['source', 'step', 'tool', 'call', 'model', 'run']
const BUCKETS = ['input', 'cache_read', 'cache_write', 'output', 'reasoning'] as const

const count = fc.oneof(fc.nat(100_000), fc.constant(0))
const tokens = fc
  .record({
    input: count,
    cache_read: count,
    cache_write: count,
    output: count,
    reasoning: count,
    percent: fc.nat(100),
  })
  .map(({ percent, ...buckets }) => ({
    ...buckets,
    cache_write_1h: Math.floor((percent * buckets.cache_write) / 100),
  }))
const rate = fc.nat(10_000).map((cents) => cents / 100)
const price = fc.record(
  { input: rate, output: rate, cache_read: rate, cache_write: rate, cache_write_1h: rate, reasoning: rate },
  { requiredKeys: ['input', 'output'] },
)
/** A source of a request, or the definitions of its tools. */
const block = fc.record({
  source_id: fc.constantFrom('tools', 'prompt', 'notes', 'talk'),
  tokens: fc.nat(5000),
})
const paid = fc.record({
  tokens: fc.option(tokens),
  price: fc.option(price),
  model: fc.constantFrom('m', 'n'),
})
const iteration = fc.record({
  paid,
  lost: fc.array(paid, { maxLength: 2 }),
  /** None: the record was lost, or is of an older layout. */
  blocks: fc.option(fc.array(block, { maxLength: 5 })),
  rewritten: fc.boolean(),
  status: fc.constantFrom('', 'inherited', 'replayed'),
})

test('whatever was asked and answered, the rows of each table add up to what the run cost', async () => {
  const { path } = await place()
  const directory = join(path, 'run')
  await fc.assert(
    fc.asyncProperty(fc.array(iteration, { maxLength: 6 }), async (iterations) => {
      await rm(directory, { recursive: true, force: true })
      await mkdir(join(directory, 'io/invocations'), { recursive: true })
      const events: Said[] = [start(), user('Go')]
      for (const [index, { paid: answer, lost, blocks, rewritten, status }] of iterations.entries()) {
        const n = index + 1
        const llm_invocation_ref = `io/invocations/20261120T09000000${n}_${n}.json`
        if (blocks) {
          const sent = blocks.map(({ source_id, tokens: estimate }) => ({
            source_id,
            type: source_id === 'tools' ? 'tools' : source_id === 'talk' ? 'journal' : 'text',
            messages: 1,
            bytes: estimate * 4,
            tokens: estimate,
            sha256: '',
          }))
          const record = { iteration: n, blocks: sent, ...(rewritten && { rewritten_by: 'pre_llm_request' }) }
          await writeFile(join(directory, llm_invocation_ref), JSON.stringify(record))
        }
        const more = { ...(status && { [status]: true }), llm_invocation_ref }
        for (const each of lost)
          events.push({ type: 'ERROR', iteration: n, error_message: 'Lost', recoverable: true, ...each })
        events.push(calling(n, `a${n}`, { ...answer, ...more }), request(n, `a${n}`), result(n, `a${n}`))
      }
      await writeFile(join(directory, 'journal.jsonl'), journalOf(events))
      const trace = await openTrace(directory)
      const { own } = trace.run.totals
      for (const by of KEYS) {
        const rows: Cost[] = await costTable([trace], by)
        const summed = Object.fromEntries(
          BUCKETS.map((bucket) => [bucket, rows.reduce((sum, row) => sum + row.tokens[bucket], 0)]),
        ) as unknown as TokenSum
        expect({ by, tokens: summed }).toEqual({ by, tokens: own.tokens })
        const cost = rows.reduce((sum, row) => sum + (row.cost ?? 0), 0)
        expect(Math.abs(cost - (own.cost ?? 0)), by).toBeLessThan(1e-9)
        expect(
          rows.some((row) => row.cost !== null),
          by,
        ).toBe(own.cost !== null)
      }
    }),
    { numRuns: 60 },
  )
})

/** Requests of which each continues the one before, as a provider counts them. */
async function cached(reads: [cache_read: number, seconds: number][]) {
  const events = reads.map(([cache_read, second], index) => ({
    ...calling(index + 1, `a${index}`, {
      tokens: { input: 1000 - cache_read, cache_read, cache_write: 0, output: 1, reasoning: 0 },
      price: { input: 2, cache_read: 0.2, output: 10 },
      model: 'm',
      llm_invocation_ref: `io/invocations/20261120T09000000${index + 1}_${index + 1}.json`,
    }),
    timestamp: new Date(Date.UTC(2026, 10, 20, 9, 0, second)).toISOString(),
  }))
  const records = events.map(({ timestamp }, index) => [
    `run/io/invocations/20261120T09000000${index + 1}_${index + 1}.json`,
    JSON.stringify({
      iteration: index + 1,
      timestamp,
      parts: { parameters: 1, messages: [[2, 2 + index]] },
      blocks: [],
    }),
  ])
  const { path } = await place({
    ...Object.fromEntries(records),
    'run/journal.jsonl': journalOf([start(), ...events]),
  })
  return all(cacheMisses(await openTrace(join(path, 'run'))))
}

test('a prefix that stayed the same and was not cached had expired, or the provider did not keep it', async () => {
  const misses = await cached([
    [800, 0],
    [900, 10],
    [0, 10 + 7 * 60],
    [900, 10 + 7 * 60 + 1],
    [100, 10 + 7 * 60 + 2],
  ])
  expect(misses.map(({ n, tokens: lost }) => [n, lost])).toEqual([
    [3, 900],
    [5, 800],
  ])
  expect(misses.map(({ message }) => message)).toEqual([
    'step 3: the prefix did not change, but 0 of 1,000 tokens came from the cache. Step 2 was 7 minutes earlier: the cache entry had probably expired.',
    'step 5: the prefix did not change, but 100 of 1,000 tokens came from the cache. The provider did not keep it, or sent the request to another server.',
  ])
  // 900 of the 1,000 tokens that were read anew, at 2 dollars a million
  expect(misses[0]?.cost).toBeCloseTo(0.0018, 12)
})
