import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openTrace, type Step } from '../src/index.js'
import {
  all,
  COST,
  calling,
  journalOf,
  paid,
  place,
  request,
  result,
  runOf,
  type Said,
  start,
  TOKENS,
  thought,
  user,
} from './runs.js'

async function stepsIn(events: readonly Said[], files: Record<string, string> = {}): Promise<Step[]> {
  return all((await openTrace(await runOf(events, files))).steps())
}

const texts = ({ said }: Step) => said.map(({ text }) => text)

test('what is said between a thought and its results is said before the next request', async () => {
  const steps = await stepsIn([
    start(),
    user('Go'),
    calling(1, 'a'),
    request(1, 'a'),
    user('Meanwhile'),
    { type: 'SYSTEM_MESSAGE', level: 'INFO', content: 'Of the engine' },
    result(1, 'a'),
    thought(2),
    user('And then?'),
  ])
  expect(steps.map((step) => [step.n, texts(step)])).toEqual([
    [1, ['Go']],
    [2, ['Meanwhile', 'Of the engine']],
    [3, ['And then?']],
  ])
  expect(steps[1]?.said[1]).toMatchObject({ role: 'system' })
  expect(steps[2]).not.toHaveProperty('thought')
  expect(steps[0]?.calls).toMatchObject([
    { actionId: 'a', status: 'SUCCESS', observation: 'result of a', durationMs: 7 },
  ])
})

test('an engine that settles what the one before left open belongs to that step, another to the next', async () => {
  const steps = await stepsIn([
    start(),
    user('Go'),
    calling(1, 'a'),
    request(1, 'a'),
    start({ resumed: true }), // after a kill
    result(1, 'a', { status: 'INTERRUPTED' }),
    thought(2),
    start({ resumed: true }),
    user('More'),
    thought(3),
  ])
  expect(steps.map(({ n, starts }) => [n, starts.map(({ resumed }) => resumed === true)])).toEqual([
    [1, [false, true]],
    [2, []],
    [3, [true]],
  ])
  expect(steps[0]?.calls[0]?.status).toBe('INTERRUPTED')
  expect(steps.map(({ at }) => at.getUTCSeconds())).toEqual([1, 7, 8])
})

test('a snapshot that is journaled after the next thought belongs to the step that it is of', async () => {
  const snapshot = (iteration: number) => ({ type: 'SNAPSHOT', iteration, snapshot_id: `s${iteration}` })
  const steps = await stepsIn([
    start(),
    user('Go'),
    calling(1, 'a'),
    request(1, 'a'),
    result(1, 'a'),
    calling(2, 'b'),
    snapshot(1),
    request(2, 'b'),
    result(2, 'b'),
    thought(3),
    snapshot(2),
  ])
  expect(steps.map(({ snapshot: taken }) => Object(taken).snapshot_id)).toEqual(['s1', 's2', undefined])
})

test('an engine that first takes the snapshot of the iteration before began the next one', async () => {
  const snapshot = (iteration: number) => ({ type: 'SNAPSHOT', iteration, snapshot_id: `s${iteration}` })
  const steps = await stepsIn([
    start(),
    user('Go'),
    calling(1, 'a'),
    request(1, 'a'),
    result(1, 'a'),
    start({ resumed: true }),
    snapshot(1),
    thought(2),
  ])
  expect(
    steps.map(({ n, starts, snapshot: taken }) => [n, starts.length, Object(taken).snapshot_id]),
  ).toEqual([
    [1, 1, 's1'],
    [2, 1, undefined],
  ])
})

test('a call that has no result yet, one that was refused, and what a person was asked', async () => {
  const [step] = await stepsIn([
    start(),
    user('Go'),
    thought(1, {
      tool_calls: ['a', 'b', 'c'].map((id) => ({
        id,
        action_id: id,
        name: 'work',
        arguments: id === 'c' ? 'not JSON' : '{"x":1}',
      })),
    }),
    {
      type: 'HUMAN_INPUT_REQUEST',
      iteration: 1,
      request_id: 'r',
      action_id: 'a',
      prompt: 'May it?',
      argv: ['true'],
    },
    { type: 'HUMAN_INPUT_RECEIVED', iteration: 1, request_id: 'r', action_id: 'a', response: 'yes' },
    request(1, 'a'),
    { ...request(1, 'b'), argv: null, resolved_command: null },
    result(1, 'b', { status: 'BLOCKED', exit_code: null, duration_ms: undefined }),
  ])
  expect(step?.calls).toMatchObject([
    {
      actionId: 'a',
      status: undefined,
      args: { x: 1 },
      argv: ['true'],
      asked: { answer: { response: 'yes' } },
      durationMs: null,
    },
    { actionId: 'b', status: 'BLOCKED', argv: null, command: null, exitCode: null, durationMs: null },
    { actionId: 'c', status: undefined, args: 'not JSON', command: null },
  ])
})

test('a hook’s observation stands beside the one that it replaced', async () => {
  const [step] = await stepsIn([
    start(),
    user('Go'),
    calling(1, 'a'),
    request(1, 'a'),
    result(1, 'a'),
    {
      type: 'HOOK_EXECUTION_AUDIT',
      iteration: 1,
      hook_name: 'post_tool_execution',
      status: 'SUCCESS',
      action_id: 'a',
      observation_override: 'Hidden.',
      io_path_ref: 'io/hooks/one',
      duration_ms: 1,
    },
  ])
  expect(step?.calls).toMatchObject([{ observation: 'result of a', override: 'Hidden.' }])
})

test('an answer that was lost, or could not be used, was paid for beside the one that counts', async () => {
  const lost = { type: 'ERROR', iteration: 1, recoverable: true, error_message: 'Lost', ...paid }
  const events = [
    start(),
    user('Go'),
    lost,
    lost,
    { ...lost, tokens: undefined, price: undefined, error_message: 'No connection' },
    thought(1, paid),
  ]
  const trace = await openTrace(await runOf(events))
  const [step] = await all(trace.steps())
  expect(step?.unused.map(({ cost, isPaid }) => [cost, isPaid])).toEqual(Array(2).fill([COST, true]))
  expect(step?.errors).toHaveLength(3)
  expect(step?.request).toMatchObject({ cost: COST, tokens: TOKENS, isPaid: true })
  expect(trace.run.totals.own).toMatchObject({ requests: 3 })
})

test('what another run did, or a record gave, is shown, and costs nothing', async () => {
  const trace = await openTrace(
    await runOf([
      start(),
      { ...user('Go'), inherited: true },
      { ...thought(1, paid), inherited: true },
      { ...thought(2, paid), replayed: true },
      thought(3, paid),
    ]),
  )
  const steps = await all(trace.steps())
  expect(
    steps.map(({ n, inherited, replayed, request: sent }) => [n, inherited, replayed, sent?.isPaid]),
  ).toEqual([
    [1, true, false, false],
    [2, false, true, false],
    [3, false, false, true],
  ])
  expect(trace.run.totals.own).toMatchObject({ requests: 1, cost: COST })
})

test('an answer of an older engine is counted by its usage, and priced by what the run or the person says', async () => {
  const usage = { prompt_tokens: 900, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 800 } }
  const config = {
    llm: { model: 'asked', base_url: 'http://localhost:1' },
    prices: [{ match: 'asked', ...{ input: 2, cache_read: 0.2, output: 10 } }],
  }
  const events = [start({ config }), user('Go'), thought(1, { usage }), thought(2, { usage, price: null })]
  const directory = await runOf(events)
  const trace = await openTrace(directory)
  const costs = async (from: typeof trace) => (await all(from.steps())).map(({ request: sent }) => sent?.cost)
  expect(await costs(trace)).toEqual([0.00056, null]) // null was recorded: nobody knew a price
  expect(trace.run.totals.own).toMatchObject({
    requests: 2,
    unreported: 0,
    tokens: { input: 200, cache_read: 1600 },
    cost: 0.00056,
    priced: 0.5,
  })

  const first = [{ match: 'ask*', input: 4, cache_read: 0.4, output: 20 }]
  expect(await costs(await openTrace(directory, { prices: { first } }))).toEqual([0.00112, null])
  expect(await costs(await openTrace(directory, { prices: { first }, reprice: true }))).toEqual([
    0.00112, 0.00112,
  ])
  const last = [{ match: 'asked', input: 9, output: 9 }]
  expect(await costs(await openTrace(directory, { prices: { last }, reprice: true }))).toEqual([
    0.00056, 0.00056,
  ])
  expect((await openTrace(directory, { prices: { first }, reprice: true })).run.totals.own.cost).toBeCloseTo(
    0.00224,
    12,
  )
})

test('the prices of a resumed engine count from there on, wherever the reading begins', async () => {
  const config = (input: number) => ({
    config: {
      llm: { model: 'asked', base_url: 'http://localhost:1' },
      prices: [{ match: 'asked', input, output: 0 }],
    },
  })
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 0 }
  const events = [
    start(config(1)),
    user('Go'),
    thought(1, { usage }),
    start(config(5)),
    thought(2, { usage }),
    thought(3, { usage }),
    thought(4, { usage }),
  ]
  const trace = await openTrace(await runOf(events))
  const costs = (steps: Step[]) => steps.map(({ request: sent }) => sent?.cost)
  expect(costs(await all(trace.steps()))).toEqual([1, 5, 5, 5])
  expect(costs(await all(trace.steps({ last: 1 })))).toEqual([5])
  expect((await trace.request(4))?.cost).toBe(5)
})

test('a part of the steps is the same as that part of all of them', async () => {
  const events = [start(), user('Go')]
  for (let n = 1; n <= 9; n++)
    events.push(calling(n, `a${n}`), request(n, `a${n}`), user(`to ${n}`), result(n, `a${n}`))
  const trace = await openTrace(await runOf([...events, thought(10)]))
  const whole = JSON.stringify(await all(trace.steps()))
  const steps = JSON.parse(whole) as unknown[]
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }), async (from, to) => {
      const part = await all(trace.steps({ from, to }))
      expect(JSON.parse(JSON.stringify(part))).toEqual(steps.slice(from - 1, Math.max(from - 1, to)))
    }),
    { numRuns: 30 },
  )
  expect((await all(trace.steps({ last: 3 }))).map(({ n }) => n)).toEqual([8, 9, 10])
  expect(await all(trace.steps({ last: 0 }))).toEqual([])
  expect(await trace.request(11)).toBeUndefined()
})

test('a journal is read up to its last whole line, and up to where it is damaged', async () => {
  const directory = await runOf([start(), user('Go'), thought(1, paid), thought(2, paid), thought(3, paid)])
  const path = join(directory, 'journal.jsonl')
  const whole = await readFile(path, 'utf8')
  const ns = async () => (await all((await openTrace(directory)).steps())).map(({ n }) => n)
  await writeFile(path, whole.slice(0, -5))
  expect(await ns()).toEqual([1, 2])
  expect((await openTrace(directory)).run.problem).toBeUndefined()

  const lines = whole.split('\n')
  await writeFile(path, lines.toSpliced(3, 1, 'no event').join('\n'))
  expect(await ns()).toEqual([1])
  const { run } = await openTrace(directory)
  expect(run.problem).toMatchObject({ code: 'ERR_JOURNAL_CORRUPT', line: 4 })
})

test('a run that is not there is refused, one without a journal has no steps', async () => {
  const { path } = await place({ 'run/io/x': '' })
  await expect(openTrace(join(path, 'none'))).rejects.toMatchObject({ code: 'ERR_RUN_NOT_FOUND' })
  expect(await all((await openTrace(join(path, 'run'))).steps())).toEqual([])
})

test('what a command printed is read piece by piece, from its record or from the file beside it', async () => {
  const record = (stdout: object) => JSON.stringify({ stdout })
  const [first, second] = await stepsIn(
    [
      start(),
      user('Go'),
      calling(1, 'a'),
      request(1, 'a'),
      result(1, 'a', { execution_ref: 'io/tool_executions/one.json' }),
      calling(2, 'b'),
      request(2, 'b'),
      result(2, 'b', { execution_ref: 'io/tool_executions/two.json' }),
    ],
    {
      'io/tool_executions/one.json': record({ text: 'äbc' }),
      'io/tool_executions/two.json': record({ bytes: 6 }),
      'io/tool_executions/two.stdout': 'abcdef',
    },
  )
  const [short, long] = [first?.calls[0], second?.calls[0]]
  expect(String(await short?.output('stdout'))).toBe('äbc')
  expect(String(await short?.output('stdout', 2, 1))).toBe('b')
  expect(String(await long?.output('stdout', 2, 3))).toBe('cde')
  expect(String(await long?.output('stderr'))).toBe('')
})

test('journals of strangers are grouped without a loss: each event is in the step that it names', async () => {
  const { path } = await place({ 'run/journal.jsonl': '' })
  const random = fc.array(fc.nat(3), { maxLength: 20 }).map((kinds) => {
    let n = 0
    return kinds.flatMap((kind): Said[] => {
      if (kind === 0) return [user('Hm')]
      if (kind === 1) return [start({ resumed: true })]
      if (kind === 2) return [{ type: 'NOTE_OF_A_STRANGER', text: 'x' }]
      n += 1
      return [calling(n, `a${n}`, paid), request(n, `a${n}`), result(n, `a${n}`)]
    })
  })
  await fc.assert(
    fc.asyncProperty(random, async (events) => {
      await writeFile(join(path, 'run/journal.jsonl'), journalOf([start(), ...events]))
      const steps = await all((await openTrace(join(path, 'run'))).steps())
      const thoughts = events.filter(({ type }) => type === 'THOUGHT').length
      expect(steps.filter((step) => step.thought).map(({ n }) => n)).toEqual(
        Array.from({ length: thoughts }, (_, index) => index + 1),
      )
      expect(steps.flatMap(texts)).toHaveLength(events.filter(({ type }) => type === 'USER_MESSAGE').length)
      for (const { calls, n } of steps)
        expect(calls.map(({ status }) => status)).toEqual(n <= thoughts ? ['SUCCESS'] : [])
    }),
    { numRuns: 50 },
  )
})
