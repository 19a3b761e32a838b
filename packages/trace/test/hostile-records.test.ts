import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { findExportProblem } from '@delta/testkit'
import { expect, test } from 'vitest'
import { cacheMisses, costTable, EXPORT_FORMATS, exportRun, openTrace } from '../src/index.js'
import {
  all,
  calling,
  journalOf,
  paid,
  request,
  result,
  runOf,
  type Said,
  start,
  thought,
  user,
} from './runs.js'

const REF = 'io/invocations/20261120T090000000_1.json'
const BLOCK = {
  source_id: 'talk',
  type: 'journal',
  messages: 2,
  message: 0,
  bytes: 90,
  tokens: 30,
  sha256: '',
}
const RECORD = {
  iteration: 1,
  timestamp: '2026-11-20T09:00:00.000Z',
  sha256: 'f'.repeat(64),
  parts: { parameters: 3, messages: [[1, 2]] as unknown },
  blocks: [BLOCK] as unknown[],
}
const PARTS = journalOf([
  { type: 'MESSAGE', part: { role: 'system', content: 'Be brief.' } },
  { type: 'MESSAGE', part: { role: 'user', content: 'Go' } },
  { type: 'PARAMETERS', part: { messages: [] } },
])
const END: Said = { type: 'ENGINE_END', status: 'COMPLETED', reason_code: 'answered' }

function runWith(record: unknown, answer: object = { ...paid, llm_invocation_ref: REF }): Promise<string> {
  const events = [start(), user('Go'), thought(1, answer), thought(2, answer), END]
  const files = { [REF]: JSON.stringify(record), 'io/parts.jsonl': PARTS }
  return runOf(events, files)
}

/** The sources of a run, after all tables were made of it, which add up, and it was exported in every format, which readers take. */
async function sourcesOf(directory: string): Promise<string[]> {
  const trace = await openTrace(directory)
  for (const by of ['source', 'step', 'tool', 'call'] as const) {
    const rows = await costTable([trace], by)
    const read = rows.map(({ tokens }) => tokens.input + tokens.cache_read + tokens.cache_write)
    expect(read.reduce((sum, count) => sum + count)).toBe(2 * 950)
    for (const { estimated } of rows) expect(estimated).toBe(0)
  }
  expect(await all(cacheMisses(trace))).toEqual([])
  for (const format of EXPORT_FORMATS) {
    const text = (await all(exportRun(trace, format, { content: true }))).join('')
    expect([format, text && (await findExportProblem(format, text))]).toEqual([format, text && undefined])
  }
  return (await costTable([trace], 'source')).map(({ key }) => key)
}

test('a record as the engine writes it is what the others here are a damaged copy of', async () => {
  expect(await sourcesOf(await runWith(RECORD))).toEqual(['talk', 'answers'])
})

const parts = (messages: unknown) => ({ ...RECORD, parts: { parameters: 3, messages } })
const block = (more: object) => ({ ...RECORD, blocks: [BLOCK, { ...BLOCK, ...more }] })

test.each<[says: string, record: unknown]>([
  ['300 million messages', parts([[0, 300_000_000]])],
  ['the same messages a million times', parts(Array(1e4).fill([1, 1000]))],
  ['more messages than an array holds', parts([[0, 1e15]])],
  ['messages from the last to the first', parts([[2, 1]])],
  ['messages that are no pairs', parts([5])],
  ['messages that are no list', parts('1-2')],
  ['no object of parts', { ...RECORD, parts: 7 }],
  ['a block that is null', { ...RECORD, blocks: [null] }],
  ['an endless number of tokens', block({ tokens: 1e308 })],
  ['tokens as text', block({ tokens: '12' })],
  ['fewer than no tokens', block({ tokens: -7 })],
  ['half a token', block({ tokens: 0.5 })],
  ['fewer than no bytes', block({ bytes: -1 })],
  ['a source without a name', block({ source_id: { toString: null } })],
  ['an API that is no text', { ...RECORD, wire: { api: {} } }],
  ['a time that is no text', { ...RECORD, timestamp: {} }],
  ['a duration as text', { ...RECORD, duration_ms: '1' }],
  ['only null', null],
])('a record with %s counts as not recorded', async (_, record) => {
  expect(await sourcesOf(await runWith(record))).toEqual(['(not recorded)', 'answers'])
})

test.each([
  'never',
  '-000001-01-01T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '2600-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.000Z',
])('a request that was sent at %s is exported without that time', async (timestamp) => {
  expect(await sourcesOf(await runWith({ ...RECORD, timestamp }))).toEqual(['talk', 'answers'])
})

const EXECUTION = 'io/tool_executions/20261120T090000000_work.json'

/** `npm run test:real` also has a journal of that size, which is read to its end, many times. */
const LARGE = [
  REF,
  'io/parts.jsonl',
  EXECUTION,
  ...(process.env.DELTA_TESTS === 'real' ? ['journal.jsonl'] : []),
]

test.each(LARGE)('%s of 1.9 GB takes no gigabytes of memory', async (name) => {
  const called = [request(1, 'a'), result(1, 'a', { execution_ref: EXECUTION })]
  const answer = { ...paid, llm_invocation_ref: REF }
  const events = [start(), user('Go'), calling(1, 'a', answer), ...called, thought(2, answer), END]
  const ran = { stdout: { text: 'printed' } }
  const files = { [REF]: JSON.stringify(RECORD), 'io/parts.jsonl': PARTS, [EXECUTION]: JSON.stringify(ran) }
  const directory = await runOf(events, files)
  await truncate(join(directory, name), 1.9e9)
  const before = process.resourceUsage().maxRSS

  const source = name === REF ? '(not recorded)' : 'talk'
  expect(await sourcesOf(directory)).toEqual([source, 'answers'])
  const trace = await openTrace(directory)
  expect(trace.index.steps.map(({ n }) => n)).toEqual([1, 2])
  const [step] = await all(trace.steps())
  expect(String(await step?.calls[0]?.output('stdout'))).toBe(name === EXECUTION ? '' : 'printed')
  expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(700) // in MB
})
