import { appendFile, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startScriptedServer, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, scene, served } from './delta.js'

const PRICES = [{ match: '*', input: 2, cache_read: 0.2, output: 10 }]
/** 100 × 2 + 800 × 0.2 + 20 × 10 = 560 millionths of a dollar. */
const USAGE = { prompt_tokens: 900, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 800 } }
const COST = 0.00056
const work = { name: 'work', exec: 'echo worked' }

interface Row extends Record<string, unknown> {
  key: string
  tokens: Record<string, number>
  cost: number | null
}

/** The table, whose rows add up to what the runs themselves cost. */
async function tableOf(
  at: (...line: [string, ...string[]]) => Promise<{ stdout: string; exitCode: number | null }>,
  by: string,
) {
  const { stdout, exitCode } = await at('cost', '--by', by, '--json')
  expect(exitCode).toBe(0)
  const { rows, totals } = JSON.parse(stdout) as { rows: Row[]; totals: Record<string, Row> }
  const whole = by === 'run' || by === 'model' ? totals.all : totals.own
  for (const bucket of ['input', 'cache_read', 'cache_write', 'output', 'reasoning'])
    expect(
      rows.reduce((sum, { tokens }) => sum + (tokens[bucket] ?? 0), 0),
      `${by}: ${bucket}`,
    ).toBe(whole?.tokens[bucket])
  expect(
    rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    by,
  ).toBeCloseTo(whole?.cost ?? 0, 9)
  return rows
}

const KEYS = ['source', 'step', 'tool', 'call', 'model', 'run']
const turns = [
  { ...calls('work'), usage: USAGE },
  { ...calls('work'), usage: USAGE },
  { content: 'Done.', usage: USAGE },
]

test('sources that share one message each have their own share of it', async () => {
  const context = {
    merge: true,
    sources: [
      { type: 'text', id: 'short', text: 'Be kind.' },
      { type: 'text', id: 'long', text: 'Work well and long. '.repeat(200) },
      { type: 'journal', id: 'talk' },
    ],
  }
  const { run, at } = await served(turns, {
    agent: { prices: PRICES },
    tools: [work],
    files: { 'context.yaml': JSON.stringify(context) },
  })
  await run('-q')
  const rows = await tableOf(at, 'source')
  expect(rows.map(({ key }) => key)).toEqual(['tools', 'short', 'long', 'talk', 'answers'])
  const read = ({ tokens }: Row) => (tokens.input ?? 0) + (tokens.cache_read ?? 0)
  const [tools = 0, short = 0, long = 0, talk = 0] = rows.map(read)
  expect(long).toBeGreaterThan(20 * short)
  expect(tools + short + long + talk).toBe(3 * 900)
  for (const key of KEYS) await tableOf(at, key)
})

test('where nobody knows a price, a share is one of the tokens, written ones too', async () => {
  const usage = { prompt_tokens: 300, completion_tokens: 100 }
  const { run, at } = await served([{ content: 'Done.', usage }])
  await run('-q')
  expect((await at('cost')).stdout).toMatch(/^answers +- +- +100 +- +25\.0 % {2}#{9}$/m)
})

test('a request that a hook rewrote is one row, by its hook', async () => {
  const hook = `jq '.messages[-1].content = "Else"' "$DELTA_HOOK_IO_PATH/input/proposed_payload.json" > "$DELTA_HOOK_IO_PATH/output/final_payload.json"`
  const hooks = JSON.stringify({ pre_llm_request: { command: ['sh', '-c', hook] } })
  const { run, at } = await served([{ content: 'Done.', usage: USAGE }], {
    agent: { prices: PRICES },
    files: { 'hooks.yaml': hooks },
  })
  await run('-q')
  expect(await tableOf(at, 'source')).toMatchObject([
    { key: '(rewritten by pre_llm_request)', tokens: { input: 100, cache_read: 800, output: 0 } },
    { key: 'answers', tokens: { input: 0, output: 20 } },
  ])
  expect(await tableOf(at, 'tool')).toMatchObject([{ key: '(rest)', calls: 0 }])
  for (const key of KEYS) await tableOf(at, key)
})

const APIS = {
  chat: { llm: { provider: 'openai', model: 'm' }, usage: USAGE },
  responses: {
    llm: { provider: 'openai', api: 'responses', model: 'm' },
    usage: { input_tokens: 900, input_tokens_details: { cached_tokens: 800 }, output_tokens: 20 },
  },
  messages: {
    llm: { provider: 'anthropic', model: 'm', max_tokens: 1000 },
    usage: { input_tokens: 100, cache_read_input_tokens: 800, output_tokens: 20 },
  },
}

test.each(Object.entries(APIS))(
  'on %s each tool pays for its definition and its results',
  async (_api, { llm, usage }) => {
    const server = await startScriptedServer([
      {
        tool_calls: [
          { name: 'work', arguments: {} },
          { name: 'shout', arguments: {} },
        ],
        usage,
      },
      { content: 'Done.', usage },
    ])
    onTestFinished(() => server.close())
    const shout = { name: 'shout', exec: `echo ${'LOUD '.repeat(100)}` }
    const agent = { prices: PRICES, llm: { ...llm, base_url: server.baseUrl } }
    const { run, at } = await scene(
      { agent, tools: [work, shout] },
      { env: { DELTA_API_KEY: 'test-key-not-real' } },
    )
    expect((await run('-q')).stdout).toBe('Done.\n')
    const rows = await tableOf(at, 'tool')
    const named = Object.fromEntries(rows.map((row) => [row.key, row as unknown as Record<string, number>]))
    expect(named).toMatchObject({
      work: { calls: 1 },
      shout: { calls: 1 },
      ask_human: { calls: 0, results: 0 },
    })
    expect(named.work?.results).toBeGreaterThan(0)
    expect(named.shout?.results).toBeGreaterThan(3 * (named.work?.results ?? 0))
    expect(Number(named.ask_human?.definition)).toBeGreaterThan(Number(named.work?.definition))
    for (const key of KEYS) await tableOf(at, key)
  },
)

test('a provider that counts nothing is estimated, marked, and not priced', async () => {
  const { run, at } = await served([{ content: 'Done.', usage: null }], { agent: { prices: PRICES } })
  await run('-q')
  const { stdout } = await at('cost')
  expect(stdout).toMatch(/^conversation_history +~\d+ /m)
  expect(stdout).toContain(
    'priced 0 %. 1 request, 1 of them not counted by the provider: ~ is an estimate. No sub-agents.\n',
  )
  expect((await tableOf(at, 'source')).map(({ cost }) => cost)).toEqual([null, null, null, null])
})

/** A run, and the run that its tool started, of the same agent and answer. */
async function withSubAgent() {
  const child = {
    'child/agent.yaml': JSON.stringify({
      name: 'child',
      llm: { provider: 'command', command: ['cat', 'answer.json'] },
      prices: PRICES,
    }),
    'child/context.yaml': 'sources: [{ type: journal }]\n',
    'child/answer.json': JSON.stringify({
      model: 'small',
      choices: [{ message: { role: 'assistant', content: 'Helped.' } }],
      usage: USAGE,
    }),
  }
  const help = { name: 'help', exec: 'delta run --agent ${AGENT_HOME}/child -m Help -w child -q' }
  const script = [
    { ...calls('help'), usage: USAGE },
    { content: 'Done.', usage: USAGE },
  ]
  const place = await served(script, { agent: { prices: PRICES }, tools: [help], files: child })
  await place.run('-q')
  return place
}

test('sub-agents are told beside the tables of a run, and counted by run and model', async () => {
  const { at, workspace } = await withSubAgent()
  expect((await at('cost')).stdout).toContain(' 1 sub-agent: $0.00056 more, $0.00168 in all; see --by run.\n')
  expect(await tableOf(at, 'run')).toMatchObject([{ requests: 3, sub_agents: 1 }])
  expect(await tableOf(at, 'model')).toMatchObject([
    { key: 'scripted', runs: 1, requests: 2 },
    { key: 'small', runs: 1, requests: 1 },
  ])
  for (const key of KEYS) await tableOf(at, key)

  const both = async (by: string) => {
    const named = [workspace.path, join(workspace.path, 'child')]
    return JSON.parse((await delta(['cost', ...named, '--by', by, '--json'])).stdout)
  }
  for (const by of ['run', 'model', 'step']) {
    const { rows, totals } = await both(by) // of a sub-agent that is named, too, nothing counts twice
    const requests = rows.map((row: { requests?: number }) => row.requests ?? 1)
    expect(
      requests.reduce((sum: number, count: number) => sum + count),
      by,
    ).toBe(3)
    expect(totals).toMatchObject({ own: { runs: 2, requests: 3 }, all: { runs: 2, requests: 3 } })
  }

  const { path: elsewhere } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const moved = join(elsewhere, 'moved')
  await rename(workspace.path, moved)
  const asMoved = await delta(['cost', moved, join(moved, 'child'), '--json'])
  expect(JSON.parse(asMoved.stdout).totals.all).toMatchObject({ runs: 2, requests: 3 })
  await rename(moved, workspace.path)

  const { path: fork } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await at('fork', '--at', '1', '--without-files', '--into', fork, '-q')
  const { rows, totals, warnings } = JSON.parse(
    (await delta(['cost', fork, join(workspace.path, 'child'), '--by', 'run', '--json'])).stdout,
  ) // the call that the fork copied is not its own: what that started counts apart
  expect(rows).toMatchObject([{ requests: 1, sub_agents: 0 }, { requests: 1 }])
  expect({ totals, warnings }).toMatchObject({ totals: { all: { runs: 2, requests: 2 } }, warnings: [] })

  await rm(join(workspace.path, 'child'), { recursive: true })
  const gone = await at('cost', '--json')
  expect(JSON.parse(gone.stdout).warnings).toEqual([
    expect.stringMatching(/^Sub-agent \S+ is gone; what its caller recorded counts\.$/),
  ])
  expect(JSON.parse(gone.stdout).totals.all.requests).toBe(3)
})

test('a sub-agent that went on after its caller counts as it stands now', async () => {
  const { at, workspace } = await withSubAgent()
  await delta(['continue', '-w', join(workspace.path, 'child'), '-m', 'More', '-q'])
  const { stdout } = await at('cost')
  expect(stdout).toContain(' 1 sub-agent: $0.00112 more, $0.00224 in all; see --by run.\n')
  expect(stdout).toContain('A sub-agent went on after its caller ended.\n')
})

test('several runs are a line each, newest first; other tables add them up', async () => {
  const { run, workspace } = await served(turns, { agent: { prices: PRICES }, tools: [work] })
  await run('-q', '--run-id', 'one')
  await run('-q', '--new', '--run-id', 'two')
  const cost = (...flags: string[]) => delta(['cost', workspace.path, ...flags])
  const { rows, by, totals } = JSON.parse((await cost('--json')).stdout)
  expect([by, rows.map(({ key }: Row) => key)]).toEqual(['run', ['two', 'one']])
  expect(rows[0]).toMatchObject({ workspace: workspace.path, task: 'Go' })
  const each = ['one', 'two'].map((id) => join(workspace.path, '.delta', id))
  const { rows: named } = JSON.parse((await delta(['cost', ...each, '--json'])).stdout)
  expect(named.map(({ key }: Row) => key)).toEqual(['two', 'one'])
  expect(totals.all).toMatchObject({ runs: 2, requests: 6 })
  expect((await cost('--by', 'model')).stdout).toMatch(/^scripted +2 +6 /m)
  const steps = JSON.parse((await cost('--by', 'step', '--json')).stdout).rows as Row[]
  expect(steps.map(({ run_id, step }) => `${run_id} ${step}`)).toEqual(
    ['two', 'one'].flatMap((id) => [1, 2, 3].map((step) => `${id} ${step}`)),
  )
  const csv = (await cost('--by', 'call', '--csv')).stdout.trimEnd().split('\n')
  expect(csv[0]).toBe(
    'key,run_id,step,tool,status,exit_code,ms,input,cache_read,cache_write,output,reasoning,estimated,cost',
  )
  expect(csv.slice(1).map((line) => line.split(',').slice(1, 6).join())).toEqual(
    ['two', 'one'].flatMap((id) => [`${id},1,work,SUCCESS,0`, `${id},2,work,SUCCESS,0`, `${id},,(rest),,`]),
  )
})

test('CSV has each field of the rows as a column, and of a table without rows its columns', async () => {
  const { run, at } = await served(turns, { agent: { prices: PRICES }, tools: [work] })
  const dead = await scene({ agent: { llm: { provider: 'command', command: ['false'] } } })
  await run('-q')
  await dead.run('-q')
  const csvOf = async (of: typeof at, ...flags: string[]) =>
    (await of('cost', '--csv', ...flags)).stdout.split('\n')
  for (const by of KEYS) {
    const [header = '', row = ''] = await csvOf(at, '--by', by)
    const [{ tokens, ...about } = { tokens: {} }] = await tableOf(at, by)
    expect(header.split(',').sort()).toEqual([...Object.keys(about), ...Object.keys(tokens)].sort())
    expect(row.split(',')).toHaveLength(header.split(',').length)
    expect((await csvOf(dead.at, '--by', by))[0]).toBe(header)
  }
  expect(await csvOf(dead.at, '--cache')).toEqual(['run_id,step,source,type,byte,message,tokens,cost', ''])
})

test('a run is priced as it was, unless it is asked for other prices', async () => {
  const { run, at, agent, workspace } = await served([{ content: 'Done.', usage: USAGE }], {
    agent: { prices: PRICES },
  })
  await run('-q')
  const spent = async (...flags: string[]) =>
    JSON.parse((await at('cost', '--json', ...flags)).stdout).totals.own.cost
  const journal = join(
    workspace.path,
    '.delta',
    (await workspace.read('.delta/LATEST')).trim(),
    'journal.jsonl',
  )
  const before = await readFile(journal, 'utf8')
  await agent.write('prices.yaml', "- { match: 'script*', input: 20, cache_read: 2, output: 100 }\n")
  expect(await spent()).toBe(COST)
  expect(await spent('--reprice')).toBe(COST)
  expect(await spent('--prices', join(agent.path, 'prices.yaml'))).toBeCloseTo(10 * COST, 9)
  const { stdout } = await delta(['cost', '-w', workspace.path, '--reprice', '--json'], {
    env: { DELTA_PRICES: join(agent.path, 'prices.yaml') },
  })
  expect(JSON.parse(stdout).totals.own.cost).toBe(COST) // those of the agent come first
  expect(await readFile(journal, 'utf8')).toBe(before)
})

test('a damaged run is counted up to the damage, and ends with 1', async () => {
  const { run, at, workspace } = await served(turns, { agent: { prices: PRICES }, tools: [work] })
  await run('-q', '--run-id', 'one')
  const path = join(workspace.path, '.delta/one/journal.jsonl')
  const lines = (await readFile(path, 'utf8')).split('\n')
  const second = lines.findLastIndex((line) => line.includes('"THOUGHT","iteration":2'))
  await rm(path)
  await appendFile(path, lines.toSpliced(second, 0, '{"seq":').join('\n'))
  const { exitCode, stdout, stderr } = await at('cost', '--by', 'step', '--json')
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(
    /^Run one is damaged, and counted up to there: .*journal\.jsonl:\d+: This line is damaged/,
  )
  const { rows, totals } = JSON.parse(stdout)
  expect(rows.map(({ key }: Row) => key)).toEqual(['1'])
  expect(totals.own).toMatchObject({ requests: 1, cost: COST })
})

test.each([
  [['--by', 'tools'], /^Error: --by tools: choose one of source, step, tool, call, model, run\.\n$/],
  [['none'], /^Error: No run none in .*Choose another workspace with -w\.$/m],
  [
    ['./none'],
    /^Error: \.\/none: there is no such directory\. Name a run, a workspace, or a directory of runs\.$/m,
  ],
  [['--prices', 'none.yaml'], /^Error: none\.yaml: The file does not exist\.$/m],
  [['--csv', '--json'], /^Error: option '--csv' cannot be used with option '--json'$/m],
  [['--cache', '--by', 'step'], /^Error: option '--by <key>' cannot be used with option '--cache'$/m],
])('delta cost %j is refused', async (flags, message) => {
  const { at } = await scene({})
  const { exitCode, stdout, stderr } = await at('cost', ...flags)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(message)
})

test('a directory without runs is refused', async () => {
  const { workspace } = await scene({})
  await workspace.write('notes/a.txt', '')
  const { exitCode, stderr } = await delta(['cost', join(workspace.path, 'notes')])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('Name a run, a workspace, or a directory of runs.')
})

test('the answer that a killed run lost has its place in every table', async () => {
  const hooks = `post_llm_response: { command: [sh, -c, '[ "$ITERATION_COUNT" = 1 ] || kill -9 $PPID'] }\n`
  const { run, at } = await served(
    turns,
    { agent: { prices: PRICES }, tools: [work], files: { 'hooks.yaml': hooks } },
    { isProcess: true },
  )
  expect((await run('-q')).signal).toBe('SIGKILL')
  for (const key of KEYS) await tableOf(at, key)
  expect(await tableOf(at, 'step')).toMatchObject([{ step: 1 }, { step: 2, cost: expect.closeTo(COST, 12) }])
  expect((await at('cost')).stdout).toContain('2 requests, all counted by the provider.')
})
