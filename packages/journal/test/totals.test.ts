import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { costOf } from '../src/internal.js'
import { readRun, type Totals } from '../src/runs.js'

/** The totals of a journal whose events come a second after one another. */
async function totalsOf(events: readonly object[]): Promise<Totals> {
  const directory = mkdtempSync(join(tmpdir(), 'delta-totals-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const start = { type: 'ENGINE_START', run_id: 'one', config: { llm: { model: 'asked' } } }
  const lines = [start, { type: 'USER_MESSAGE', content: 'Go' }, ...events].map((event, index) =>
    JSON.stringify({ seq: index + 1, timestamp: new Date(index * 1000).toISOString(), ...event }),
  )
  writeFileSync(join(directory, 'journal.jsonl'), `${lines.join('\n')}\n`)
  return (await readRun(directory)).totals
}

const TOKENS = { input: 100, cache_read: 800, cache_write: 50, output: 20, reasoning: 5 }
const PRICE = { input: 2, cache_read: 0.2, cache_write: 2.5, output: 10, date: '2026-11-20' }
/** 100 × 2 + 800 × 0.2 + 50 × 2.5 + 25 × 10 = 735 millionths. */
const COST = 0.000735
const thought = (more: object = {}) => ({
  type: 'THOUGHT',
  iteration: 1,
  content: '',
  tool_calls: [],
  tokens: TOKENS,
  price: PRICE,
  ...more,
})
const lost = { type: 'ERROR', error_message: 'Not readable', recoverable: true, tokens: TOKENS, price: PRICE }

test('every paid answer counts once: used or not, but not what another run or a record gave', async () => {
  const { own, all, by_model, prices } = await totalsOf([
    { ...thought(), inherited: true },
    { ...thought(), replayed: true },
    thought(),
    lost,
    { type: 'ERROR', error_message: 'No connection', recoverable: true },
    thought({ model: 'answered' }),
  ])
  const tokens = { input: 300, cache_read: 2400, cache_write: 150, output: 60, reasoning: 15 }
  expect(own).toMatchObject({ runs: 1, requests: 3, unreported: 0, tokens, priced: 1 })
  expect(own.cost).toBeCloseTo(3 * COST, 12)
  expect(all).toEqual(own)
  expect(by_model).toMatchObject({ asked: { requests: 2 }, answered: { requests: 1 } })
  expect(prices).toBe('2026-11-20')
})

test('an answer without a price or a count costs nothing known, and lowers the share that is priced', async () => {
  const unpriced = await totalsOf([thought({ price: null })])
  expect(unpriced.own).toMatchObject({ cost: null, priced: 0, unreported: 0 })
  const uncounted = await totalsOf([thought(), thought({ tokens: null, request_bytes: 3900 })])
  expect(uncounted.own).toMatchObject({ requests: 2, unreported: 1, estimated: 975, cost: COST, priced: 0.5 })
  const free = { input: 0, output: 0 }
  const script = await totalsOf([thought({ tokens: null, price: free })])
  expect(script.own).toMatchObject({ cost: 0, priced: 1, unreported: 1 })
})

/** What a tool may have written in place of the totals of its sub-agent. */
const HOSTILE = [
  null,
  { all: 'not ours' },
  { all: { tokens: {} }, by_model: null },
  { all: { runs: 1, requests: '1', tokens: {}, cost: 'much', priced: 1 }, by_model: {} },
]

test('a sub-agent counts once with all that it started, as its last call found it', async () => {
  const child = await totalsOf([thought({ model: 'small' })])
  const later = await totalsOf([thought({ model: 'small' }), thought({ model: 'small' })])
  const result = (totals: unknown) => ({
    type: 'ACTION_RESULT',
    iteration: 1,
    action_id: 'a',
    tool_name: 'ask',
    status: 'SUCCESS',
    observation_content: '',
    child_runs: [{ run_id: 'child', directory: '/child', totals }],
  })
  const { own, sub_agents, all, by_model } = await totalsOf([
    thought(),
    result(child),
    result(later),
    ...HOSTILE.map(result),
  ])
  expect(own).toMatchObject({ runs: 1, requests: 1 })
  expect(sub_agents).toMatchObject({ runs: 1, requests: 2, cost: 2 * COST })
  expect(all).toMatchObject({ runs: 2, requests: 3 })
  expect(all.cost).toBeCloseTo(3 * COST, 12)
  expect(by_model).toMatchObject({ asked: { requests: 1 }, small: { requests: 2 } })
})

test('a model of a sub-agent that is named __proto__ is in by_model like any other', async () => {
  const child = await totalsOf([thought({ model: '__proto__' })])
  const result = {
    type: 'ACTION_RESULT',
    iteration: 1,
    action_id: 'a',
    tool_name: 'ask',
    status: 'SUCCESS',
    observation_content: '',
    child_runs: [{ run_id: 'child', directory: '/child', totals: child }],
  }
  const { by_model } = await totalsOf([thought(), thought({ model: '__proto__' }), result])
  expect(Object.entries(by_model).map(([name, { requests }]) => [name, requests])).toEqual([
    ['asked', 1],
    ['__proto__', 2],
  ])
})

test('the duration leaves out people, and the time in which no engine ran', async () => {
  const ask = { type: 'HUMAN_INPUT_REQUEST', request_id: 'r', prompt: 'Well?' }
  const answer = { type: 'HUMAN_INPUT_RECEIVED', request_id: 'r', response: 'Yes' }
  const at = (second: number) => ({ timestamp: new Date(second * 1000).toISOString() })
  const again = { type: 'ENGINE_START', run_id: 'one' }
  const { duration_ms, waited_ms } = await totalsOf([
    thought({ waited_ms: 700, ...at(2) }),
    { ...ask, ...at(3) },
    { ...answer, ...at(63) },
    { ...ask, ...at(64) }, // killed while it waits
    { ...again, ...at(1000) }, // and asked again
    { ...answer, ...at(1010) },
    { ...thought(), ...at(1014) },
  ])
  expect({ duration_ms, waited_ms }).toEqual({ duration_ms: (64 - 60 + 4) * 1000, waited_ms: 700 })
})

test('the wait before another attempt is a part of the duration: what passed of it', async () => {
  const at = (second: number) => ({ timestamp: new Date(second * 1000).toISOString() })
  const failed = (delay_ms: number) => ({
    type: 'ERROR',
    error_message: 'Busy.',
    recoverable: true,
    error_details: { delay_ms },
  })
  const hook = { type: 'HOOK_EXECUTION_AUDIT', hook_name: 'on_error', status: 'SUCCESS' }
  const { duration_ms, waited_ms } = await totalsOf([
    { ...failed(5000), ...at(1) },
    { ...hook, ...at(3) },
    { ...thought(), ...at(10) },
    { ...failed(5000), ...at(11) }, // stopped after a second
    { type: 'ENGINE_END', status: 'INTERRUPTED', ...at(12) },
    { type: 'ENGINE_START', run_id: 'one', ...at(100) },
    { ...failed(5000), ...at(101) }, // killed while it waits
    { type: 'ENGINE_START', run_id: 'one', ...at(200) },
    { ...thought(), ...at(201) },
  ])
  expect({ duration_ms, waited_ms }).toEqual({ duration_ms: (12 + 1 + 1) * 1000, waited_ms: 6000 })
})

test.each([
  ['a missing rate is that of input or output', TOKENS, { input: 2, output: 10 }, 950 * 2 + 250],
  [
    'a write for an hour costs twice the input',
    { ...TOKENS, cache_write_1h: 50 },
    PRICE,
    200 + 160 + 200 + 250,
  ],
  ['reasoning may have a rate of its own', TOKENS, { ...PRICE, reasoning: 20 }, 735 + 50],
  ['free', TOKENS, { input: 0, output: 0 }, 0],
])('%s', (_title, tokens, rates, millionths) => {
  expect(costOf(tokens, rates)).toBeCloseTo(millionths / 1e6, 12)
})
