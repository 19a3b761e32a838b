import {
  type CellResult,
  type CellStatus,
  isEvaluationError,
  type Plan,
  type PlannedVariant,
  report,
  reportCsv,
  reportHtml,
  reportOfScores,
  reportText,
  scoresInCsv,
} from '@delta/evals'
import { expect, test } from 'vitest'

const TASKS = Array.from({ length: 12 }, (_, at) => `task-${String(at + 1).padStart(2, '0')}`)
const REPEATS = 5

/** Of how many tries of task `at` a variant succeeds. */
const SUCCESSES: Record<string, (at: number) => number> = {
  oracle: () => 5,
  luna: (at) => at % 6,
  nova: (at) => Math.min(5, (at % 6) + (at % 4 === 0 ? 1 : 0)),
  nop: () => 0,
}

function planOf(names: readonly string[]): Plan {
  const kindOf = (name: string): PlannedVariant['kind'] =>
    name === 'oracle' || name === 'nop' ? name : 'agent'
  return {
    version: 1,
    name: 'bugfix',
    engine: '0.3.0',
    source: '../eval.yaml',
    baseline: 'luna',
    concurrency: 16,
    repeats: REPEATS,
    seed: 1,
    sandbox: 'none',
    keep: 'always',
    scorers: [],
    scorer_files: null,
    tasks: [],
    variants: names.map((name) => ({
      name,
      kind: kindOf(name),
      hash: name,
      agent: null,
      original: null,
      set: [],
      limits: {},
    })),
  }
}

function spending(tokens: number, cost: number | null): NonNullable<CellResult['totals']> {
  const all = {
    runs: 1,
    requests: 2,
    unreported: 0,
    estimated: 0,
    tokens: { input: tokens - 100, cache_read: 0, cache_write: 0, output: 100, reasoning: 0 },
    cost,
    priced: cost === null ? 0 : 1,
  } as NonNullable<CellResult['totals']>['all']
  return { own: all, sub_agents: all, all, by_model: {}, prices: null, duration_ms: 0, waited_ms: 0 }
}

type Change = Partial<CellResult> | 'pending'

/** Every cell of some variants, but for what `changed` says of `variant/task/repeat`. */
function resultsOf(names: readonly string[], changed: Record<string, Change> = {}): CellStatus[] {
  return names.flatMap((variant) =>
    TASKS.flatMap((task, at) =>
      Array.from({ length: REPEATS }, (_, index): CellStatus => {
        const repeat = index + 1
        const name = `${variant}/${task}/${repeat}`
        const cell = { cell: name, variant, task, repeat, seed: 7, score_hash: 's' }
        const change = changed[name]
        const whole = { ...cell, task_hash: task, variant_hash: variant }
        if (change === 'pending') return { cell: whole, standing: 'pending' }
        const isAgent = variant === 'luna' || variant === 'nova'
        const score = index < (SUCCESSES[variant]?.(at) ?? 0) ? 1 : 0
        const result: CellResult = {
          ...cell,
          version: 1,
          attempt: 1,
          epoch: 1,
          state: 'scored',
          score,
          reason: 'answered',
          detail: '',
          scores: { tests: { score, metrics: { lines: 10 + at } }, style: { score: 0.5, metrics: {} } },
          run: { id: `${name}-1`, status: 'COMPLETED', reason_code: null, iterations: 2 },
          totals: isAgent ? spending(20_000 + 100 * at, variant === 'luna' ? 0.11 : null) : null,
          models: isAgent ? [`gpt-5.6-${variant}`] : [],
          warnings: [],
          limits: {},
          sandbox: 'none',
          engine: '0.3.0',
          ms: { setup: 0, agent: isAgent ? 41_000 + 500 * at : 120, waited: 0, score: 80 },
          at: '2026-01-01T00:00:00.000Z',
          by: { host: 'here', pid: 1 },
          ...change,
        }
        return { cell: whole, standing: result.state, result }
      }),
    ),
  )
}

const infra = (reason: string, detail = ''): Change => ({
  state: 'unscored-infra',
  score: null,
  reason,
  detail,
})

const ALL = ['oracle', 'luna', 'nova', 'nop']
const MISSING = {
  'luna/task-03/1': infra('provider_unavailable'),
  'luna/task-04/1': infra('provider_unavailable'),
  'luna/task-05/1': infra(
    'scorer_timeout',
    "scorer tests timed out (on_timeout: 0 if that is the agent's fault)",
  ),
}

test('a report has scores with intervals, what differs from the baseline, what is tied, and what is missing', () => {
  const text = reportText(report(resultsOf(ALL, MISSING), planOf(ALL)))
  expect(text).toMatchInlineSnapshot(`
    "bugfix: 12 tasks x 4 variants x 5 repeats = 240 cells: 237 scored, 0 unscored-agent, 3 unscored-infra, 0 invalid. Coverage 98.7 %. Sandbox none. Engine 0.3.0.
    VARIANT  TASKS  RUNS  COVERAGE  SCORE  95 % INTERVAL   pass@5  pass^5  TOKENS/RUN   COST  TIME/RUN
    oracle      12    60     100 %  1.000  0.712 .. 1.000   1.000   1.000           0  $0.00     0.1 s
    luna        12    57      95 %  0.474  0.266 .. 0.691   0.778   0.222      20,563  $6.27      44 s
    nova        12    60     100 %  0.550  0.337 .. 0.746   0.917   0.250      20,550      -      44 s
    nop         12    60     100 %  0.000  0.000 .. 0.288   0.000   0.000           0  $0.00     0.1 s
    AGAINST luna  TASKS  DIFFERENCE  95 % INTERVAL          p  p (flip)  p (Holm)
    oracle           12      +0.525  +0.298 .. +0.752  <0.001     0.002     0.001
    nova             12      +0.075  +0.012 .. +0.138   0.023     0.063     0.023
    nop              12      -0.475  -0.702 .. -0.248  <0.001     0.002     0.002
    Not told apart at 5 %: none. With 12 tasks a difference of 0.09 between luna and nova is found 4 times in 5; for 0.05 take 33 tasks (more repeats do not replace tasks).
    3 cells are missing (delta eval retry; after a change of eval.yaml or its scorers: delta eval run): provider_unavailable (2 cells), scorer tests timed out (1 cell; on_timeout: 0 if that is the agent's fault).
    "
  `)
})

test('a report as JSON holds the same and more', () => {
  const names = ['luna', 'nova']
  expect(report(resultsOf(names, MISSING), planOf(names))).toMatchSnapshot()
})

test('a report as CSV has a line for each cell, which makes the same scores again', () => {
  const names = ['luna', 'nova']
  const results = resultsOf(names, MISSING)
  const csv = reportCsv(results)
  expect(csv.split('\n').slice(0, 13)).toMatchInlineSnapshot(`
    [
      "variant,task,repeat,state,score,reason,status,models,tokens,cost,seconds,cell,style,tests.lines",
      "luna,task-01,1,scored,0,answered,COMPLETED,gpt-5.6-luna,20000,0.11,41,luna/task-01/1,0.5,10",
      "luna,task-01,2,scored,0,answered,COMPLETED,gpt-5.6-luna,20000,0.11,41,luna/task-01/2,0.5,10",
      "luna,task-01,3,scored,0,answered,COMPLETED,gpt-5.6-luna,20000,0.11,41,luna/task-01/3,0.5,10",
      "luna,task-01,4,scored,0,answered,COMPLETED,gpt-5.6-luna,20000,0.11,41,luna/task-01/4,0.5,10",
      "luna,task-01,5,scored,0,answered,COMPLETED,gpt-5.6-luna,20000,0.11,41,luna/task-01/5,0.5,10",
      "luna,task-02,1,scored,1,answered,COMPLETED,gpt-5.6-luna,20100,0.11,41.5,luna/task-02/1,0.5,11",
      "luna,task-02,2,scored,0,answered,COMPLETED,gpt-5.6-luna,20100,0.11,41.5,luna/task-02/2,0.5,11",
      "luna,task-02,3,scored,0,answered,COMPLETED,gpt-5.6-luna,20100,0.11,41.5,luna/task-02/3,0.5,11",
      "luna,task-02,4,scored,0,answered,COMPLETED,gpt-5.6-luna,20100,0.11,41.5,luna/task-02/4,0.5,11",
      "luna,task-02,5,scored,0,answered,COMPLETED,gpt-5.6-luna,20100,0.11,41.5,luna/task-02/5,0.5,11",
      "luna,task-03,1,unscored-infra,,provider_unavailable,COMPLETED,gpt-5.6-luna,20200,0.11,42,luna/task-03/1,0.5,12",
      "luna,task-03,2,scored,1,answered,COMPLETED,gpt-5.6-luna,20200,0.11,42,luna/task-03/2,0.5,12",
    ]
  `)
  const again = reportOfScores(scoresInCsv(csv, 'x.csv'), 'x.csv')
  const before = report(results, planOf(names))
  expect(again.variants.map(({ score, pass }) => ({ score, pass }))).toEqual(
    before.variants.map(({ score, pass }) => ({ score, pass })),
  )
  expect(again.pairs).toEqual(before.pairs)
})

test('below a coverage of 95 % a variant has no score and is not compared, unless asked', () => {
  const names = ['luna', 'nova']
  const missing = Object.fromEntries(
    TASKS.slice(0, 4).map((task) => [`nova/${task}/1`, infra('provider_unavailable')]),
  )
  const results = resultsOf(names, missing)
  const refused = report(results, planOf(names))
  expect(refused).toMatchObject({ pairs: [], tied: [], variants: [{}, { score: null }] })
  expect(reportText(refused)).toContain(
    '  93.3 %      -  (coverage 93.3 %: 4 of 60 cells missing; delta eval retry, or --allow-missing)\n',
  )
  expect(report(results, planOf(names), { allowMissing: true })).toMatchObject({
    pairs: [{ a: 'luna', b: 'nova' }],
  })
})

test('a failed oracle and a rewarded nop stand before everything else, in capitals', () => {
  const results = resultsOf(ALL, { 'oracle/task-02/3': { score: 0 }, 'nop/task-07/1': { score: 1 } })
  expect(
    reportText(report(results, planOf(ALL)))
      .split('\n')
      .slice(0, 2),
  ).toEqual([
    'THE ORACLE IS BELOW 1: THE SOLUTION OR THE SCORER IS WRONG IN task-02.',
    'NOP IS ABOVE 0: THE SCORER GIVES POINTS FOR NOTHING IN task-07.',
  ])
})

test('what was not the same for all cells has a line: engines, and the models that answered', () => {
  const results = resultsOf(['luna', 'nova'], {
    'luna/task-01/1': { engine: '0.2.0', models: ['gpt-5.6-luna-0801'] },
    'luna/task-01/2': { engine: '0.2.0' },
  })
  const shown = report(results, planOf(['luna', 'nova']))
  expect(shown.notes).toEqual([
    'Mixed engines: 0.3.0 118 cells, 0.2.0 2 cells.',
    'Mixed models in luna: gpt-5.6-luna 59 cells, gpt-5.6-luna-0801 1 cell.',
  ])
  expect(reportText(shown)).toContain('Sandbox none. Engine 0.2.0, 0.3.0.\n')
})

test('where detached processes could not be looked for, the report says so once', () => {
  const warnings = ['detached processes of agents were not looked for (no /proc)']
  const changed = { 'luna/task-01/1': { warnings }, 'luna/task-02/1': { warnings } }
  expect(report(resultsOf(['luna'], changed), planOf(['luna'])).notes).toEqual([
    'Detached processes of agents were not looked for (no /proc).',
  ])
})

test('cells without a result yet are missing, and the report says how to go on', () => {
  const names = ['luna', 'nova']
  const text = reportText(report(resultsOf(names, { 'nova/task-12/5': 'pending' }), planOf(names)))
  expect(text).toContain('119 scored, 0 unscored-agent, 0 unscored-infra, 0 invalid, 1 without a result.')
  expect(text).toContain('\n1 cell has no result yet: delta eval run\n')
})

test('a run that left nothing to score counts as 0', () => {
  const names = ['luna']
  const nothing: Change = { state: 'unscored-agent', score: null, reason: 'answered' }
  const [luna] = report(resultsOf(names, { 'luna/task-06/1': nothing }), planOf(names)).variants
  expect(luna).toMatchObject({ runs: 60, coverage: 1, score: { estimate: 29 / 60 } })
})

test('scores between 0 and 1 have an interval and no pass@k; a single task has no interval', () => {
  const of = (tasks: readonly string[]) =>
    reportOfScores(
      tasks.flatMap((task, at) =>
        [0.25, 0.5].map((score) => ({ variant: 'a', task, score: score + at / 10 })),
      ),
      'x.csv',
    ).variants[0]
  expect(of(['one', 'two', 'three'])).toMatchObject({
    score: { estimate: expect.closeTo(0.475), low: expect.any(Number) },
    pass: {},
  })
  expect(of(['one'])?.score).toEqual({ estimate: 0.375, low: null, high: null })
})

test('differences that are all equal have no interval, and the p of the sign flip test', () => {
  const scores = ['one', 'two', 'three'].flatMap((task) => [
    { variant: 'a', task, score: 0 },
    { variant: 'b', task, score: 1 },
  ])
  expect(reportOfScores(scores, 'x.csv').pairs).toMatchObject([
    { difference: 1, low: null, high: null, p: 0.25, p_flip: 0.25, p_holm: 0.25 },
  ])
})

test.each([
  ['task,score\none,1\n', 'x.csv:1: there is no column variant. Needed are variant, task and score.'],
  ['variant,task,score\n', 'x.csv: there is no line below the header.'],
  ['variant,task,score\na,one,1\na,two,good\n', 'x.csv:3: score must be a number, or empty, got "good".'],
  ['variant,task,score\na,one\n', 'x.csv: Invalid Record Length: expect 3, got 2 on line 2'],
])('a table that is no table of scores is refused, with its line: %j', (text, message) => {
  try {
    scoresInCsv(text, 'x.csv')
    expect.unreachable()
  } catch (error) {
    expect(isEvaluationError(error)).toBe(true)
    expect(error).toMatchObject({ code: 'ERR_EVAL_PLAN', message })
  }
})

test('a table may come from a spreadsheet: quotes, a byte order mark, CRLF and further columns', () => {
  const text = '\ufefftask,"variant",note,score\r\n"one, two","a ""b""",x,0.5\r\none,c,,NA\r\n'
  expect(scoresInCsv(text, 'x.csv')).toEqual([
    { variant: 'a "b"', task: 'one, two', score: 0.5 },
    { variant: 'c', task: 'one', score: null },
  ])
})

test('a report as HTML is one page with four plots, without a script, and the same for the same results', () => {
  const names = ['luna', 'nova']
  const priced = Object.fromEntries(
    TASKS.flatMap((task) =>
      [1, 2, 3, 4, 5].map((repeat) => [`nova/${task}/${repeat}`, { totals: spending(9000, 0.05) }]),
    ),
  )
  const html = () => reportHtml(report(resultsOf(names, priced), planOf(names)))
  expect(html().match(/<h2>.*<\/h2>/g)).toEqual([
    '<h2>Score, with its 95 % interval</h2>',
    '<h2>Score against cost</h2>',
    '<h2>Differences by task: nova minus luna</h2>',
    '<h2>Mean score of each task</h2>',
  ])
  expect(html()).toContain('<title>nova: 0.550, $0.05 a run</title>')
  expect(html()).not.toMatch(/<script|NaN|Infinity|undefined/)
  expect(html()).toBe(html())
})

test('names of tasks and variants are text in the HTML, whatever they hold', () => {
  const evil = `"><img src=x onerror='alert(1)'>&`
  const scores = ['a', evil].flatMap((variant) =>
    [evil, `${evil}2`].map((task, at) => ({ variant, task, score: variant === 'a' ? at : 1 })),
  )
  const html = reportHtml(reportOfScores(scores, evil))
  expect(html).not.toContain('<img')
  expect(html).not.toContain(`'alert`)
  expect(html).toContain('&quot;&gt;&lt;img src=x')
})

test('the HTML of 400 tasks with long names and 20 variants has at most 150 kB', () => {
  const scores = Array.from({ length: 20 }, (_, variant) =>
    Array.from({ length: 400 }, (_, task) => ({
      variant: `variant-${variant}-${'<'.repeat(20)}`,
      task: `task-${task}-${'"'.repeat(60)}`,
      score: task % 7 === 0 || (task < 7 && variant > task) ? 1 : 0, // few differ, so no signs are drawn at random
    })),
  ).flat()
  expect(reportHtml(reportOfScores(scores, 'x.csv')).length).toBeLessThan(150_000)
})

test('a baseline that is no variant is refused, with those there are', () => {
  expect(() => report(resultsOf(['luna']), planOf(['luna']), { baseline: 'lune' })).toThrow(
    'There is no variant lune to compare with. Variants: luna.',
  )
})
