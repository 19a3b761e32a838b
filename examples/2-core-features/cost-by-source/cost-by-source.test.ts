import { expect, test } from 'vitest'
import { areInstalled, type TemporaryWorkspace } from '../../../packages/testkit/dist/index.js'
import { delta, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '2-core-features/cost-by-source'
const TASK = 'When does the harvest begin?'

/**
 * The requests of a run, as lines of tokens. What a source is estimated at is what the model counts in all, so each has its estimate:
 *
 *              tools  system_prompt  clock  conversation   cached  written  new   output  reasoning
 *   request 1    252             38     13            14        0      290   27       20          0
 *   request 2    248             37     13            71      290       60   19       20         10
 *   request 3    245             37     13           157      290      100   62       15          0
 *
 * A cache keeps the beginning. Request 1 wrote the tools and the prompt (252 + 38 = 290). Of request 2, 290 tokens are the tools, the
 * prompt (248 + 37 = 285) and 5 of the clock; its other 8 and 52 of the conversation were written, and 19 are new. Of request 3, 290
 * are the tools, the prompt (245 + 37 = 282) and 8 of the clock; its other 5 and 95 of the conversation were written, and 62 are new.
 */
const SOURCES = {
  tools: { cache_write: 252, cache_read: 248 + 245 },
  system_prompt: { cache_write: 38, cache_read: 37 + 37 },
  clock: { input: 13, cache_read: 5 + 8, cache_write: 8 + 5 },
  conversation: { input: 14 + 19 + 62, cache_write: 52 + 95 },
  answers: { output: 20 + 20 + 15, reasoning: 10 },
}

const STEPS = {
  1: { cache_write: 290, input: 27, output: 20 },
  2: { cache_read: 290, cache_write: 60, input: 19, output: 20, reasoning: 10 },
  3: { cache_read: 290, cache_write: 100, input: 62, output: 15 },
}

/**
 * By call, the bytes of the messages decide within the conversation: the task 56, what the model said and its call 78 and 80, the
 * result 70; then 69, 100 and 178. In request 2 that is 14, 20, 20 and 17 of the 71 tokens: call and result of list_files are the last
 * 37, and 19 of these are new. In request 3 it is 14, 19, 20, 18, 17, 25 and 44 of the 157. Written are the first 95: all of list_files
 * (20 + 18), and 7 of the 25 of the second call. New are its other 18, and its result.
 */
const CALLS = {
  one: { cache_write: 18 + 20 + 18, input: 19 },
  two: { cache_write: 7, input: 18 + 44 },
}

/** The definitions have 191, 250 and 560 bytes: 48, 63 and 141 of 252 tokens, 47, 62 and 139 of 248, 47, 61 and 137 of 245. */
const TOOLS = {
  list_files: { cache_write: 48 + CALLS.one.cache_write, cache_read: 47 + 47, input: CALLS.one.input },
  read_file: { cache_write: 63 + CALLS.two.cache_write, cache_read: 62 + 61, input: CALLS.two.input },
  ask_human: { cache_write: 141, cache_read: 139 + 137 },
}

const ALL = {
  input: 27 + 19 + 62,
  cache_read: 290 + 290,
  cache_write: 290 + 60 + 100,
  output: 55,
  reasoning: 10,
}

type Tokens = typeof ALL
const NOTHING: Tokens = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 }

/** At the prices of agent.yaml: 2 dollars for a million tokens, 0.20 from the cache, 2.50 into it, 10 for what is written. */
function bill(tokens: Partial<Tokens>): number {
  const { input, cache_read, cache_write, output, reasoning } = { ...NOTHING, ...tokens }
  return (input * 2 + cache_read * 0.2 + cache_write * 2.5 + (output + reasoning) * 10) / 1_000_000
}

interface Row {
  key: string
  tokens: Tokens
  cost: number
}

async function rowsBy(key: string, { path }: TemporaryWorkspace): Promise<Row[]> {
  const { exitCode, stdout } = await delta(['cost', '-w', path, '--by', key, '--json'])
  expect(exitCode).toBe(0)
  const { by, rows, totals } = JSON.parse(stdout)
  expect(by).toBe(key)
  expect(totals.all).toMatchObject({ requests: 3, unreported: 0, tokens: ALL, priced: 1 })
  expect(totals.all.cost).toBeCloseTo(bill(ALL), 9)
  return rows
}

/** Rows with these tokens at their price, and one more with the rest, if they are not all. */
function expectRows(rows: readonly Row[], expected: Record<string, Partial<Tokens>>): void {
  const named = rows.filter(({ key }) => key !== '(rest)')
  expect(Object.fromEntries(named.map(({ key, tokens }) => [key, tokens]))).toEqual(
    Object.fromEntries(Object.entries(expected).map(([key, tokens]) => [key, { ...NOTHING, ...tokens }])),
  )
  for (const { key, tokens, cost } of rows) expect(cost, key).toBeCloseTo(bill(tokens), 9)
  for (const bucket of Object.keys(NOTHING) as (keyof Tokens)[])
    expect(
      rows.reduce((sum, { tokens }) => sum + tokens[bucket], 0),
      bucket,
    ).toBe(ALL[bucket])
  expect(rows.reduce((sum, { cost }) => sum + cost, 0)).toBeCloseTo(bill(ALL), 9)
}

test.skipIf(!areInstalled('jq'))(
  'each table of a run adds up to what it cost, and says what a reader works out by hand',
  async () => {
    const workspace = await workspaceOf(EXAMPLE)
    const { stdout } = await runExample(EXAMPLE, workspace, TASK)
    expect(stdout).toBe('On the third of May, says plan.txt.\n')
    expectRows(await rowsBy('source', workspace), SOURCES)
    expectRows(await rowsBy('step', workspace), STEPS)
    expectRows(await rowsBy('tool', workspace), TOOLS)
    expectRows(await rowsBy('call', workspace), CALLS)
    expectRows(await rowsBy('model', workspace), { 'sample-model-1': ALL })
    const runId = (await workspace.read('.delta/LATEST')).trim()
    expectRows(await rowsBy('run', workspace), { [runId]: ALL })
    expect(await rowsBy('tool', workspace)).toMatchObject([
      { calls: 1, definition: 48 + 47 + 47, results: 18 + 19 + 20 + 18 },
      { calls: 1, definition: 63 + 62 + 61, results: 25 + 44 },
      { calls: 0, definition: 141 + 139 + 137, results: 0 },
      { key: '(rest)' },
    ])
  },
)

test.skipIf(!areInstalled('jq'))(
  'the clock is named as what keeps the conversation out of the cache',
  async () => {
    const workspace = await workspaceOf(EXAMPLE)
    await runExample(EXAMPLE, workspace, TASK)
    const { stdout } = await delta(['cost', '-w', workspace.path, '--cache'])
    const advice = 'Put it after the sources that do not change.'
    expect(stdout).toBe(
      `step 2: \`clock\` changed at byte 16. The 73 tokens after it were not cached and cost $0.0001737. ${advice}\n` +
        `step 3: \`clock\` changed at byte 16. The 159 tokens after it were not cached and cost $0.0003671. ${advice}\n`,
    )
    const { stdout: json } = await delta(['cost', '-w', workspace.path, '--cache', '--json'])
    // of 79 tokens that were not cached, 19 cost 2 and 60 cost 2.50 dollars a million; of 162, 62 and 100
    const costs = [
      (73 / 79) * bill({ input: 19, cache_write: 60 }),
      (159 / 162) * bill({ input: 62, cache_write: 100 }),
    ]
    for (const [index, miss] of (JSON.parse(json) as { source: string; cost: number }[]).entries()) {
      expect(miss.source).toBe('clock')
      expect(miss.cost).toBeCloseTo(costs[index] ?? Number.NaN, 9)
    }
  },
)
