import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type {
  CostTable,
  DiffAnswer,
  RunList,
  RunPage,
  SearchMatch,
  SourceChart,
  StepList,
  WholeStep,
} from '../src/api.js'
import {
  COST,
  called,
  end,
  evaluationOf,
  journalOf,
  place,
  type Said,
  serving,
  start,
  thought,
  user,
  workspaceOf,
} from './runs.js'

const FINISHED = [start(), user('Go.'), ...called(1), thought(2), end(2)]

/** The key of the only run. */
async function only(client: Awaited<ReturnType<typeof serving>>): Promise<string> {
  const { runs } = await client.get<RunList>('/api/runs')
  expect(runs).toHaveLength(1)
  return runs[0]?.key ?? ''
}

test('the list has a row for each run, newest first, with what it cost', async () => {
  const later = { ...start({ agent_name: 'lead' }), timestamp: '2026-11-21T09:00:00.000Z' }
  const client = await serving([await workspaceOf({ one: FINISHED, two: [later, ...FINISHED.slice(1)] })])
  const { runs } = await client.get<RunList>('/api/runs')
  expect(runs.map(({ id }) => id)).toEqual(['two', 'one'])
  expect(runs[1]).toMatchObject({
    agent: 'fixer',
    task: 'Go.',
    models: ['m'],
    status: 'COMPLETED',
    reasonCode: 'answered',
    steps: 2,
    tokens: 975,
    cost: COST,
    tools: ['bash'],
    workspace: '/work',
    wallMs: 5000,
  })
})

test('a run that ended is listed from its first line and its last one, without reading what is between', async () => {
  const between = Array.from({ length: 2000 }, (_, index) => thought(index + 1))
  const journal = `${journalOf([start()])}this is not an event\n${journalOf([...between, end(2)], 2)}`
  const { path } = await place({ '.delta/run/journal.jsonl': journal })
  const client = await serving([path])
  const { runs } = await client.get<RunList>('/api/runs')
  expect(runs).toMatchObject([{ status: 'COMPLETED', steps: 2, cost: COST }])
})

test('after `since`, the list has only the rows that changed', async () => {
  const workspace = await workspaceOf({ one: FINISHED, two: FINISHED.slice(0, -1) })
  const client = await serving([workspace])
  const { since } = await client.get<RunList>('/api/runs')
  expect(await client.get<RunList>(`/api/runs?since=${since}`)).toEqual({ runs: [], since })
  appendFileSync(join(workspace, '.delta/two/journal.jsonl'), journalOf([end(2)], 7))
  await expect
    .poll(async () => (await client.get<RunList>(`/api/runs?since=${since}`)).runs)
    .toMatchObject([{ id: 'two', status: 'COMPLETED' }])
})

test('a run whose directory is deleted meanwhile is said to be gone, and the page stays up', async () => {
  const workspace = await workspaceOf({ one: FINISHED, two: FINISHED })
  const client = await serving([workspace])
  const { runs, since } = await client.get<RunList>('/api/runs')
  const key = runs.find(({ id }) => id === 'two')?.key
  rmSync(join(workspace, '.delta/two'), { recursive: true })
  expect((await client.ask(`/api/runs/${key}/steps`)).status).toBe(404)
  await expect
    .poll(async () => (await client.get<RunList>(`/api/runs?since=${since}`)).runs)
    .toMatchObject([{ id: 'two', status: 'GONE', problem: 'gone', task: 'Go.' }])
  expect((await client.get<RunList>('/api/runs')).runs).toHaveLength(2)
})

test('a run that is made meanwhile comes into the list', async () => {
  const workspace = await workspaceOf({ one: FINISHED })
  const client = await serving([workspace])
  const { since } = await client.get<RunList>('/api/runs')
  const other = await workspaceOf({ new: FINISHED })
  renameSync(join(other, '.delta/new'), join(workspace, '.delta/new'))
  await expect
    .poll(async () => (await client.get<RunList>(`/api/runs?since=${since}`)).runs.map(({ id }) => id))
    .toEqual(['new'])
})

test('a damaged journal is listed up to the damage, with its line', async () => {
  const { path } = await place({
    '.delta/run/journal.jsonl': `${journalOf(FINISHED.slice(0, 5))}{"seq":6,"type":5}\n${journalOf([thought(2)], 7)}`,
  })
  const client = await serving([path])
  const { runs } = await client.get<RunList>('/api/runs')
  expect(runs).toMatchObject([{ status: 'DAMAGED', task: 'Go.' }])
  expect(runs[0]?.problem).toMatch(/^damaged: line 6: /)
  const { steps } = await client.get<StepList>(`/api/runs/${runs[0]?.key}/steps`)
  expect(steps[0]).toMatchObject({ n: 1, thought: { text: 'thought 1' } })
})

test('a cell says where it stands; its result comes into the list when its run has long ended', async () => {
  const { path, write } = await place(evaluationOf([{ name: 'luna/calc/2', events: FINISHED }]))
  const client = await serving([path])
  const { runs, since } = await client.get<RunList>('/api/runs')
  const cell = { evaluation: 'x', variant: 'luna', task: 'calc', repeat: 2, attempt: 1, counts: true }
  expect(runs).toMatchObject([{ id: 'c0-1', cell: { ...cell, state: 'pending', score: null } }])
  await write('x.eval/cells/c0/result.json', JSON.stringify({ attempt: 1, state: 'scored', score: 0.5 }))
  await expect
    .poll(async () => (await client.get<RunList>(`/api/runs?since=${since}`)).runs, { timeout: 5000 })
    .toMatchObject([{ cell: { ...cell, state: 'scored', score: 0.5 } }])
  const page = await client.get<RunPage>(`/api/runs/${runs[0]?.key}`)
  expect(page.run.cell).toMatchObject({ state: 'scored' })
})

test('runs below a workspace are found; those below .git and node_modules are not looked for', async () => {
  const journal = journalOf(FINISHED)
  const { path } = await place({
    '.delta/own/journal.jsonl': journal,
    'below/deep/.delta/other/journal.jsonl': journal,
    '.git/.delta/hidden/journal.jsonl': journal,
    'node_modules/x/.delta/hidden/journal.jsonl': journal,
  })
  const { runs } = await (await serving([path])).get<RunList>('/api/runs')
  expect(runs.map(({ id }) => id).sort()).toEqual(['other', 'own'])
})

test('a sub-agent names its caller, a fork the run it came from, both by key if they are listed', async () => {
  const parent = { run_id: 'one', directory: '/x', iteration: 2, seq: 7, sha256: '' }
  const client = await serving([
    await workspaceOf({
      one: FINISHED,
      child: [start({ parent_run: 'one' }), ...FINISHED.slice(1)],
      fork: [
        ...FINISHED.slice(0, -1).map((event) => ({ ...event, inherited: true })),
        start({ parent }),
        thought(3),
        end(3),
      ],
      other: [start({ parent_run: 'not listed' }), ...FINISHED.slice(1)],
    }),
  ])
  const { runs } = await client.get<RunList>('/api/runs')
  const row = (id: string) => runs.find((run) => run.id === id)
  expect(row('child')?.caller).toEqual({ id: 'one', key: row('one')?.key })
  expect(row('fork')?.forkOf).toEqual({ id: 'one', step: 2, key: row('one')?.key })
  expect(row('other')?.caller).toEqual({ id: 'not listed' })
})

test('a run has its sums, and where the time of each step went', async () => {
  const question = {
    type: 'HUMAN_INPUT_REQUEST',
    iteration: 1,
    action_id: 'c1',
    request_id: 'q',
    prompt: 'Which?',
  }
  const answer = { type: 'HUMAN_INPUT_RECEIVED', iteration: 1, action_id: 'c1', response: 'This.' }
  const [asking, , result] = called(1)
  const events = [
    start(),
    user('Go.'),
    asking,
    question,
    answer,
    result,
    start({ resumed: true }),
    thought(2),
    end(2),
  ]
  const client = await serving([await workspaceOf({ run: events as typeof FINISHED })])
  const { columns, totals, commands } = await client.get<RunPage>(`/api/runs/${await only(client)}`)
  expect(totals.all.cost).toBeCloseTo(2 * COST, 12)
  expect(columns).toMatchObject([
    { from: 1, to: 1, modelMs: 1000, waitingMs: 1000, toolMs: 3000, pauseMs: 0, isFailed: false, cost: COST },
    { from: 2, to: 2, modelMs: 1000, waitingMs: 0, pauseMs: 1000 },
  ])
  expect(commands.argument).toMatch(/\.delta\/run$/)
  expect(commands).not.toHaveProperty('continue')
})

test('a run that can go on has the command for it', async () => {
  const workspace = await workspaceOf({ run: FINISHED.slice(0, -1) })
  const client = await serving([workspace])
  const { run, commands } = await client.get<RunPage>(`/api/runs/${await only(client)}`)
  expect(run).toMatchObject({ status: 'INTERRUPTED', reasonCode: 'killed' })
  expect(commands.continue).toBe(`delta continue -w ${workspace} --run-id run`)
})

const LONG = [
  start(),
  user('Go.'),
  ...Array.from({ length: 120 }, (_, index) => called(index + 1)).flat(),
  thought(121),
  end(121),
]

test('steps come 48 at a time: the newest, those before one, those after one', async () => {
  const client = await serving([await workspaceOf({ run: LONG })])
  const path = `/api/runs/${await only(client)}/steps`
  const numbers = ({ steps }: StepList) => [steps[0]?.n, steps.at(-1)?.n, steps.length]
  const newest = await client.get<StepList>(path)
  expect(numbers(newest)).toEqual([74, 121, 48])
  expect(newest).toMatchObject({ hasBefore: true, hasAfter: false, seq: 364 })
  const before = await client.get<StepList>(`${path}?before=74`)
  expect(numbers(before)).toEqual([26, 73, 48])
  expect(before).toMatchObject({ hasBefore: true, hasAfter: true })
  const first = await client.get<StepList>(`${path}?after=0`)
  expect(numbers(first)).toEqual([1, 48, 48])
  expect(first).toMatchObject({ hasBefore: false, hasAfter: true })
  expect(await client.get<StepList>(`${path}?after=121`)).toMatchObject({ steps: [], hasAfter: false })
  expect((await client.ask(`${path}?before=1&after=2`)).status).toBe(400)
  expect((await client.ask(`${path}?before=-1`)).status).toBe(400)
})

test('the newest steps are the same cards, whether they are read from the end or from the beginning', async () => {
  const client = await serving([await workspaceOf({ run: LONG })])
  const path = `/api/runs/${await only(client)}/steps`
  const [newest, after] = [await client.get<StepList>(path), await client.get<StepList>(`${path}?after=73`)]
  expect(newest.steps).toEqual(after.steps)
})

test('only the steps with a failure', async () => {
  const failed = { status: 'FAILED', exit_code: 1, observation_content: 'E  assert 3 == 4' }
  const retry = {
    type: 'ERROR',
    iteration: 5,
    error_message: 'Too many requests',
    recoverable: true,
    error_details: { attempt: 1, status: 429, delay_ms: 2000 },
  }
  const events = [
    start(),
    user('Go.'),
    called(1),
    called(2, failed),
    called(3),
    called(4),
    [retry, thought(5)],
    [end(5)],
  ].flat()
  const client = await serving([await workspaceOf({ run: events })])
  const path = `/api/runs/${await only(client)}/steps`
  const all = await client.get<StepList>(`${path}?after=0&failed=1`)
  expect(all.steps.map(({ n, isFailed }) => [n, isFailed])).toEqual([
    [2, true],
    [5, true],
  ])
  expect(all.steps[1]?.errors).toMatchObject([
    { isRecoverable: true, retry: { attempt: 1, waitedMs: 2000, status: 429 } },
  ])
  const before = await client.get<StepList>(`${path}?before=5&failed=1`)
  expect(before.steps.map(({ n }) => n)).toEqual([2])
  expect(before).toMatchObject({ hasBefore: false, hasAfter: true })
})

test('the texts of a card are cut to 4 KiB, with their size; those of a whole step are whole', async () => {
  const text = 'é'.repeat(5000)
  const client = await serving([
    await workspaceOf({ run: [start(), user(text), thought(1, { content: text }), end(1)] }),
  ])
  const path = `/api/runs/${await only(client)}/steps`
  const [card] = (await client.get<StepList>(path)).steps
  expect(card?.thought).toEqual({ text: 'é'.repeat(2048), bytes: 10_000 })
  expect(card?.said[0]?.text.bytes).toBe(10_000)
  const { card: whole, journal } = await client.get<WholeStep>(`${path}/1`)
  expect(whole.thought).toEqual({ text, bytes: 10_000 })
  expect(journal.map(({ seq, type }) => [seq, type])).toEqual([
    [1, 'ENGINE_START'],
    [2, 'USER_MESSAGE'],
    [3, 'THOUGHT'],
  ])
})

test.each([
  [
    { status: 'BLOCKED', exit_code: null, observation_content: 'Not here.\nmore' },
    'blocked',
    'blocked: Not here.',
  ],
  [{ status: 'TIMEOUT', duration_ms: 2500 }, 'timeout', 'timed out after 2.5 s'],
  [{ status: 'INTERRUPTED' }, 'interrupted', 'interrupted'],
  [{ status: 'ERROR', observation_content: 'bash: not found' }, 'error', 'error: bash: not found'],
  [{ status: 'FAILED', exit_code: 1 }, 'failed', null],
])('a call with %o says so in words', async (more, status, statusWords) => {
  const client = await serving([
    await workspaceOf({ run: [start(), user('Go.'), ...called(1, more), thought(2), end(2)] }),
  ])
  const { steps } = await client.get<StepList>(`/api/runs/${await only(client)}/steps`)
  expect(steps[0]?.calls[0]).toMatchObject({ tool: 'bash', arguments: { text: 'true' }, status, statusWords })
})

test('of an output a card has the first six lines and the last four', async () => {
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`)
  const events = [
    start(),
    user('Go.'),
    ...called(1, { observation_content: `${lines.join('\n')}\n` }),
    thought(2),
    end(2),
  ]
  const client = await serving([await workspaceOf({ run: events })])
  const { steps } = await client.get<StepList>(`/api/runs/${await only(client)}/steps`)
  expect(steps[0]?.calls[0]?.output).toMatchObject({
    first: lines.slice(0, 6),
    last: lines.slice(-4),
    omittedLines: 40,
  })
})

test('a resume says how the engine before it ended, how long ago, and what changed', async () => {
  const changed = { llm: { model: 'other' }, tools: [{ name: 'bash' }] }
  const resumed = start({
    resumed: true,
    config: changed,
    changed_files: ['system_prompt.md'],
    engine: { epoch: 2 },
  })
  const client = await serving([
    await workspaceOf({ run: [start(), user('Go.'), ...called(1), resumed, thought(2), end(2)] }),
  ])
  const { steps } = await client.get<StepList>(`/api/runs/${await only(client)}/steps`)
  expect(steps[1]?.starts).toMatchObject([
    {
      engine: 2,
      isResumed: true,
      after: 'after a kill',
      pauseMs: 1000,
      changes: ['system_prompt.md changed', 'llm.model m → other'],
    },
  ])
})

test('a fork begins with where it comes from, and what it inherited was not killed', async () => {
  const parent = { run_id: '20261120_093000_4be1c2', directory: '/a', iteration: 1, seq: 5, sha256: '' }
  const forked = { ...start(), resumed: true, parent, config: {}, engine: { epoch: 1 } }
  const begun = { ...start(), resumed: true, config: {}, engine: { epoch: 2 } }
  const client = await serving([
    await workspaceOf({ run: [start(), user('Go.'), ...called(1), forked, begun, thought(2), end(2)] }),
  ])
  const { steps } = await client.get<StepList>(`/api/runs/${await only(client)}/steps`)
  expect(steps[1]?.starts).toMatchObject([
    { isResumed: false, origin: 'forked from 4be1c2 after step 1', changes: [] },
    { isResumed: false, origin: null, changes: [] },
  ])
})

test('a piece of what a command printed comes by Range', async () => {
  const events = [
    start(),
    user('Go.'),
    ...called(1, { execution_ref: 'io/tool_executions/x.json' }),
    thought(2),
    end(2),
  ]
  const { path } = await place({
    '.delta/run/journal.jsonl': journalOf(events),
    '.delta/run/io/tool_executions/x.json': JSON.stringify({ stdout: { file: 'x.stdout' } }),
    '.delta/run/io/tool_executions/x.stdout': '0123456789',
  })
  const client = await serving([path])
  const output = `/api/runs/${await only(client)}/steps/1/calls/c1/stdout`
  expect(await client.ask(output)).toMatchObject({ status: 200, body: '0123456789' })
  const ranged = (range: string) => client.ask(output, { headers: { range } })
  expect(await ranged('bytes=2-4')).toMatchObject({
    status: 206,
    body: '234',
    headers: { 'content-range': 'bytes 2-4/10' },
  })
  expect(await ranged('bytes=7-')).toMatchObject({ status: 206, body: '789' })
  expect(await ranged('bytes=-2')).toMatchObject({
    status: 206,
    body: '89',
    headers: { 'content-range': 'bytes 8-9/10' },
  })
  expect(await ranged('bytes=10-')).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */10' } })
})

test('a step has changed files if its snapshot says so, whatever an engine counts at its start', async () => {
  const snapshot = (iteration: number, files_id: string, changed: number): Said => ({
    type: 'SNAPSHOT',
    iteration,
    snapshot_id: `${iteration}`,
    files_id,
    changed,
  })
  const events = [start(), user('Go.'), ...called(1), snapshot(1, 'a', 0), ...called(2), snapshot(2, 'b', 1)]
  const resumed = [
    start({ resumed: true }),
    ...called(3),
    snapshot(3, 'b', 14),
    ...called(4),
    snapshot(4, 'c', 1),
  ]
  const client = await serving([await workspaceOf({ run: [...events, ...resumed] })])
  const { steps } = await client.get<StepList>(`/api/runs/${await only(client)}/steps`)
  expect(steps.map(({ snapshot }) => snapshot?.isChanged)).toEqual([false, true, false, true])
})

test('an image of the run is served by what its bytes are; other bytes are not', async () => {
  const png = Buffer.from('\x89PNG\r\n\x1a\n rest', 'latin1')
  const page = Buffer.from('<svg onload=alert(1)>')
  const name = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  const part = { type: 'image', media_type: 'image/png', bytes: 13 }
  const parts = [
    { ...part, blob: name(png) },
    { ...part, blob: name(page) },
    { ...part, blob: 'x', media_type: 'image/svg+xml' },
  ]
  const { path } = await place({
    '.delta/run/journal.jsonl': journalOf([start(), user('Look.', { content: parts }), thought(1), end(1)]),
  })
  mkdirSync(join(path, '.delta/run/io/blobs'), { recursive: true })
  for (const bytes of [png, page]) writeFileSync(join(path, '.delta/run/io/blobs', name(bytes)), bytes)
  const client = await serving([path])
  const { steps } = await client.get<StepList>(`/api/runs/${await only(client)}/steps`)
  const [image, other, drawing] = steps[0]?.said[0]?.media ?? []
  expect(await client.ask(image?.path ?? '')).toMatchObject({
    status: 200,
    headers: { 'content-type': 'image/png' },
  })
  expect((await client.ask(other?.path ?? '')).status).toBe(404)
  expect(drawing).not.toHaveProperty('path')
})

test('a search finds what was said, thought, called, printed and failed, in order, in upper and lower case', async () => {
  const events = [
    start(),
    user('Find the Needle.'),
    ...called(1, { observation_content: 'no needle here' }),
    thought(2, { content: 'NEEDLE?' }),
    end(2),
  ]
  const client = await serving([await workspaceOf({ run: events })])
  const path = `/api/runs/${await only(client)}/search`
  const { body, headers } = await client.ask(`${path}?q=needle`)
  expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
  const matches = body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SearchMatch)
  expect(matches).toEqual([
    { n: 1, where: 'said', before: 'Find the ', match: 'Needle', after: '.' },
    { n: 1, where: 'result', tool: 'bash', actionId: 'c1', before: 'no ', match: 'needle', after: ' here' },
    { n: 2, where: 'thought', before: '', match: 'NEEDLE', after: '?' },
  ])
  expect((await client.ask(`${path}?q=.*`)).body).toBe('')
  expect((await client.ask(path)).status).toBe(400)
})

test('a search ends after a thousand matches', async () => {
  const events = [
    start(),
    user('Go.'),
    ...called(1, { observation_content: 'x'.repeat(3000) }),
    thought(2),
    end(2),
  ]
  const client = await serving([await workspaceOf({ run: events })])
  const { body } = await client.ask(`/api/runs/${await only(client)}/search?q=x`)
  expect(body.trimEnd().split('\n')).toHaveLength(1000)
})

test('costs are the tables of delta cost, and the command is named', async () => {
  const workspace = await workspaceOf({ one: FINISHED, two: FINISHED })
  const client = await serving([workspace])
  const { runs } = await client.get<RunList>('/api/runs')
  const ids = runs.map(({ key }) => key).join(',')
  const { rows, sum, command, priced, prices } = await client.get<CostTable<'run'>>(
    `/api/cost?ids=${ids}&by=run`,
  )
  expect(rows).toHaveLength(2)
  expect(sum.cost).toBeCloseTo(4 * COST, 12)
  expect([priced, prices]).toEqual([1, null])
  expect(command).toMatch(/^delta cost --by run \S+\.delta\/\w+ \S+\.delta\/\w+$/)
  for (const by of ['source', 'step', 'tool', 'call', 'model', 'cache'])
    expect((await client.ask(`/api/cost?ids=${runs[0]?.key}&by=${by}`)).status, by).toBe(200)
  expect((await client.ask(`/api/cost?ids=${ids}&by=cache`)).status).toBe(400)
  expect((await client.ask(`/api/cost?ids=${ids}&by=constructor`)).status).toBe(400)
  expect((await client.ask('/api/cost?ids=nothing&by=run')).status).toBe(404)
})

test('two runs are compared as delta diff does', async () => {
  const other = [start(), user('Go.'), ...called(1), thought(2, { content: 'something else' }), end(2)]
  const client = await serving([await workspaceOf({ one: FINISHED, two: other })])
  const { runs } = await client.get<RunList>('/api/runs')
  const key = (id: string) => runs.find((run) => run.id === id)?.key
  const { diff, command } = await client.get<DiffAnswer>(`/api/diff?a=${key('one')}&b=${key('two')}`)
  expect(diff).toMatchObject({ same: false, first: { step: 2, at: 'answer' } })
  expect(command).toMatch(/^delta diff \S+one \S+two$/)
  expect((await client.ask(`/api/diff?a=${key('one')}`)).status).toBe(404)
})

test('the chart of sources has a column for each request', async () => {
  const client = await serving([await workspaceOf({ run: FINISHED })])
  const chart = await client.get<SourceChart>(`/api/runs/${await only(client)}/sources`)
  expect(chart).toMatchObject({ every: 1, columns: [{ n: 1 }, { n: 2 }] })
  expect(chart.sources.at(-1)).toEqual({ source: 'answers', type: 'answers' })
})

test('of a run with more than a thousand steps the columns are of several whole steps each', async () => {
  const events = [
    start(),
    user('Go.'),
    ...Array.from({ length: 2500 }, (_, index) => called(index + 1)).flat(),
    end(2500),
  ]
  const client = await serving([await workspaceOf({ run: events })])
  const { columns } = await client.get<RunPage>(`/api/runs/${await only(client)}`)
  expect(columns).toHaveLength(834)
  expect(columns[0]).toMatchObject({ from: 1, to: 3 })
  expect(columns.at(-1)).toMatchObject({ from: 2500, to: 2500 })
  expect(columns.reduce((sum, { cost }) => sum + (cost ?? 0), 0)).toBeCloseTo(2500 * COST, 9)
})
