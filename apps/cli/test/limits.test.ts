import { readdirSync } from 'node:fs'
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type ServerScript, startScriptedServer } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, KEY, scene, served } from './delta.js'

/** 100 new tokens, 800 cached and 20 written, for 560 millionths of a dollar. */
const USAGE = { prompt_tokens: 900, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 800 } }
const PRICES = [{ match: 'scripted', input: 2, cache_read: 0.2, output: 10 }]
const COST = 0.00056

const work = { name: 'work', exec: 'true' }
const working = { ...calls('work'), usage: USAGE }
const done = { content: 'Done.', usage: USAGE }

/** The way on that a run names: its options. */
const wayOn = (stderr: string) => /^To continue: delta continue -w \S+ --run-id \S+ (.*)$/m.exec(stderr)?.[1]

test.each([
  [{ cost: 0.001 }, 'limit_cost', '$0.00112 of $0.001 is spent.', 'limits.cost=0.002'],
  [{ tokens: 1000 }, 'limit_tokens', '1,840 of 1,000 tokens are spent.', 'limits.tokens=2000'],
])(
  'with limits %j a run ends before its next request, and goes on under a higher one',
  async (limits, code, reason, retryWith) => {
    const turns = [working, working, done]
    const { run, at, server } = await served(turns, { agent: { prices: PRICES, limits }, tools: [work] })
    const { exitCode, stdout, stderr } = await run('--format', 'json')
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'FAILED', reason_code: code, reason })
    expect(stderr).toContain(`\nFAILED (${code}) after 2 iterations: ${reason}\n`)
    expect(wayOn(stderr)).toBe(`--retry --set ${retryWith}`)
    expect((await at('show')).stderr).toContain(` --retry --set ${retryWith}\n`)
    const again = await at('continue', '--retry', '-q')
    expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`FAILED (${code}) after 2`) })
    expect(server.requests()).toHaveLength(2)
    expect(await at('continue', '--retry', '-q', '--set', retryWith)).toMatchObject({ stdout: 'Done.\n' })
    expect(server.requests()).toHaveLength(3)
  },
)

test('an answer that reaches a limit is an answer', async () => {
  const { run } = await served([done], { agent: { prices: PRICES, limits: { cost: COST / 2 } } })
  expect(await run('-q')).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('a limit of dollars needs a price before the run starts; one of tokens does not', async () => {
  const { run, at, workspace, server } = await served([done], { agent: { limits: { cost: 1 } } })
  const { exitCode, stderr } = await run()
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: `Error: agent.yaml: limits.cost needs a price for scripted at ${new URL(server.baseUrl).origin}. Add one under prices:, or use limits.tokens.\n`,
  })
  expect(workspace.has('.delta')).toBe(false)
  expect((await at('run', '-q', '--set', 'limits={tokens: 1000}')).stdout).toBe('Done.\n')
  expect(server.requests()).toHaveLength(1)
})

test('an answer of unknown cost ends a run with a limit of dollars; its estimate counts for one of tokens', async () => {
  const turns = [{ ...calls('work'), usage: null }, done]
  const { run, server } = await served(turns, {
    agent: { prices: PRICES, limits: { cost: 1 } },
    tools: [work],
  })
  expect((await run('-q')).stderr).toContain(
    'FAILED (limit_cost) after 1 iteration: The provider did not say what the answer cost.\n',
  )
  expect((await run('-q', '--new', '--set', 'limits={tokens: 10}')).stderr).toMatch(
    /^FAILED \(limit_tokens\) after 1 iteration: \d+ of 10 tokens are spent\.\n/,
  )
  expect(server.requests()).toHaveLength(2)
})

test('killed again and again, a run spends no more than its limit', async () => {
  const shell = 'echo >> kills; [ $(wc -l < kills) -gt 3 ] || kill -9 $PPID'
  const hooks = `post_llm_response: { command: [sh, -c, '${shell}'] }\n`
  const { run, at, server } = await served(
    [done],
    { agent: { prices: PRICES, limits: { cost: 2.5 * COST } }, files: { 'hooks.yaml': hooks } },
    { isProcess: true },
  )
  for (const go of [run, (flag: string) => at('continue', flag), (flag: string) => at('continue', flag)])
    expect((await go('-q')).signal).toBe('SIGKILL')
  const { exitCode, stderr } = await at('continue', '-q')
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('$0.00168 of $0.0014'),
  })
  expect(server.requests()).toHaveLength(3)
})

/** A caller and the agent `child` that it can call, both with the same server as their model, which knows them by their task. */
async function family(
  { turns, conversations = [] }: ServerScript,
  {
    agent = {},
    tools,
    child = {},
    files = {},
    isProcess = false,
  }: {
    agent?: object
    tools: object[]
    child?: object
    files?: Record<string, string>
    isProcess?: boolean
  },
) {
  const server = await startScriptedServer({ turns, conversations })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { baseUrl } = server
  const llm = { model: 'scripted', base_url: baseUrl }
  const called = { name: 'child', llm, tools: [work], ...child }
  return {
    server,
    ...(await scene(
      {
        baseUrl,
        agent: { prices: PRICES, ...agent },
        tools,
        files: {
          'child/agent.yaml': JSON.stringify(called),
          'child/context.yaml': 'sources: [{ type: journal }]\n',
          ...files,
        },
      },
      { isProcess },
    )),
  }
}

const run_child = 'delta run --agent ${AGENT_HOME}/child -m Assist -q'
const help = { name: 'help', exec: `${run_child} -w \${where}` }
const HELPED = { when: 'Assist', turns: [working, working, working, { content: 'Helped.', usage: USAGE }] }

interface Ended {
  child_runs: {
    directory: string
    status: string
    reason_code: string
    totals: { own: { requests: number } }
  }[]
}

test('a run and three sub-agents side by side stop together, each within one request', async () => {
  const busy = { when: 'Assist', turns: [{ ...working, times: 100 }] }
  const all = ['a', 'b', 'c'].map((where) => ({ name: 'help', arguments: { where } }))
  const turns = [{ tool_calls: all, usage: USAGE }, done]
  const limit = 10 * COST
  const { run, events, server } = await family(
    { turns, conversations: [busy] },
    { agent: { limits: { cost: limit }, tool_concurrency: 3 }, tools: [help] },
  )
  const { exitCode, stdout, stderr } = await run('--format', 'json')
  expect(exitCode).toBe(1)
  const { reason_code, reason, totals } = JSON.parse(stdout)
  expect(reason_code).toBe('limit_cost')
  expect(reason).toMatch(/^\$0\.00\d+ of \$0\.0056 is spent, \$0\.00\d+ of it by 3 sub-agents\.$/)
  expect(wayOn(stderr)).toBe('--retry --set limits.cost=0.0112')
  const requests = server.requests().length
  expect(requests).toBeGreaterThanOrEqual(10)
  expect(requests).toBeLessThan(10 + 3)
  expect(totals.all).toMatchObject({ runs: 4, requests })
  const results = (await events('ACTION_RESULT')) as unknown as (Ended & { observation_content: string })[]
  expect(results.flatMap(({ child_runs }) => child_runs.map((each) => each.reason_code))).toEqual(
    Array(3).fill('limit_cost'),
  )
  expect(results[0]?.observation_content).toMatch(
    /is spent, the limit of run \S+, \$0\.00\d+ of it by 3 sub-agents\.\nOnce that is fixed, retry with: /,
  )
})

test('a limit of a sub-agent is its own, and ends nobody else', async () => {
  const { run } = await family(
    { turns: [calls('help', { where: 'a' }), { content: '{{last_observation}}' }], conversations: [HELPED] },
    { tools: [help], child: { prices: PRICES, limits: { cost: COST } } },
  )
  expect((await run('-q')).stdout).toContain(
    'FAILED (limit_cost) after 1 iteration: $0.00056 of $0.00056 is spent.',
  )
})

/** An agent that calls `child`, and can be called. */
const middle = (limits: object) => ({
  'middle/agent.yaml': JSON.stringify({
    name: 'middle',
    llm: { provider: 'script', script: 'script.yaml' },
    limits,
    tools: [{ ...help, exec: help.exec.replace('/child', '/../child') }],
  }),
  'middle/context.yaml': 'sources: [{ type: journal }]\n',
  'middle/script.yaml': JSON.stringify([calls('help', { where: 'c' }), { content: '{{last_observation}}' }]),
})
const delegate = { name: 'delegate', exec: 'delta run --agent ${AGENT_HOME}/middle -m Ask -w m -q' }
const delegating = { ...calls('delegate'), usage: USAGE }

test('a sub-agent of a sub-agent spends from the limits of both', async () => {
  const { run, events } = await family(
    { turns: [delegating, done], conversations: [HELPED] },
    { agent: { limits: { cost: 2.5 * COST } }, tools: [delegate], files: middle({ tokens: 100_000 }) },
  )
  const { stdout, stderr } = await run('-q', '--format', 'json')
  expect(JSON.parse(stdout).totals.all).toMatchObject({ runs: 3 })
  expect(stderr).toContain('$0.00168 of $0.0014 is spent, $0.00112 of it by 2 sub-agents.')
  const [result] = (await events('ACTION_RESULT')) as unknown as Ended[]
  expect(result?.child_runs).toMatchObject([{ status: 'FAILED', reason_code: 'limit_cost' }])
})

test('a sub-agent that reached its own limit goes on by hand as it says, and then its caller does', async () => {
  const { run, at, workspace, events } = await family(
    { turns: [delegating, calls('stop'), done], conversations: [HELPED] },
    {
      agent: { limits: { cost: 1 } },
      tools: [delegate, { name: 'stop', shell: 'test -e once || { touch once; kill -9 $PPID; }' }],
      files: middle({ tokens: 1000 }),
      isProcess: true,
    },
  )
  expect((await run('-q')).signal).toBe('SIGKILL')
  const [{ observation_content: said } = {}] = (await events('ACTION_RESULT')) as {
    observation_content?: string
  }[]
  const [, way = ''] = /^To continue: delta (continue .*)$/m.exec(said ?? '') ?? []
  expect(way).toMatch(/ --retry --set limits\.tokens=2000$/)
  const far = way.replace('2000', '100000').split(' ')
  expect(await delta([...far, '-q'], { env: KEY })).toMatchObject({ exitCode: 0 })
  expect(await at('continue', '-q')).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(workspace.has('once')).toBe(true)
})

test('prices below a limit are those of the caller, then of an author, and no model chooses them', async () => {
  const cheap = [{ match: '*', input: 0, output: 0 }]
  const shell = [
    `echo '- { match: "*", input: 0, output: 0 }' > cheap.yaml`,
    `DELTA_PRICES=cheap.yaml ${run_child} -w a --prices cheap.yaml --set 'prices=[{match: "*", input: 0, output: 0}]'`,
  ].join('; ')
  const { run, events } = await family(
    { turns: [calls('help'), done], conversations: [HELPED] },
    { agent: { limits: { cost: 1 } }, tools: [{ name: 'help', shell }], child: { prices: cheap } },
  )
  const { totals } = JSON.parse((await run('-q', '--format', 'json')).stdout)
  expect(totals.sub_agents.cost).toBeCloseTo(4 * COST, 12)
  const [start] = (await events('ENGINE_START')) as { config?: { prices: object[] } }[]
  expect(start?.config?.prices).toEqual(PRICES)
})

test('a price of its own counts for a sub-agent with another model, but not if a tool may have written it', async () => {
  const own = {
    llm: { provider: 'command', command: ['cat', 'answer.json'] },
    prices: [{ ...PRICES[0], match: 'small' }],
  }
  const answer = JSON.stringify({
    model: 'small',
    choices: [{ message: { role: 'assistant', content: 'Helped.' } }],
    usage: USAGE,
  })
  const copied = 'cp -r "$AGENT_HOME/child" . && delta run --agent child -m Assist -w b'
  const priced = { ...own.prices[0], match: 'scripted' }
  const written = `echo '${JSON.stringify({ name: 'child', prices: [priced], llm: { model: 'other', base_url: 'http://127.0.0.1:9' } })}' > child/agent.yaml; delta run --agent child -m Assist -w b`
  const { run, events } = await family(
    {
      turns: [{ tool_calls: ['help', 'copy'].map((name) => ({ name, arguments: {} })), usage: USAGE }, done],
    },
    {
      agent: { limits: { cost: 1 } },
      tools: [
        { name: 'help', exec: `${run_child} -w a` },
        { name: 'copy', shell: `${copied}; ${written}` },
      ],
      child: own,
      files: { 'child/answer.json': answer },
    },
  )
  const { totals } = JSON.parse((await run('-q', '--format', 'json')).stdout)
  expect(totals.by_model.small).toMatchObject({ requests: 1, priced: 1 })
  const [, copy] = (await events('ACTION_RESULT')) as { observation_content?: string }[]
  expect(copy?.observation_content).toMatch(
    /Error: limits\.cost of run \S+ needs a price for other at http:\/\/127\.0\.0\.1:9\. Add one under prices: of its agent, or use limits\.tokens there\./,
  )
})

/** A run with a purse, whose second call does something to the files of the tree once the first has called a sub-agent. */
async function tampered(shell: string, { limits = { cost: 1 } as object } = {}) {
  const turns = [calls('help', { where: 'a' }), calls('tamper'), done]
  return family(
    { turns: turns.map((turn) => ({ ...turn, usage: USAGE })), conversations: [HELPED] },
    { agent: { limits }, tools: [help, { name: 'tamper', shell }] },
  )
}

test.each([
  ['cut', 'truncate -s 10 "$RUN_DIR/tree.jsonl"', 'tree.jsonl is shorter than before.'],
  ['emptied', ': > "$RUN_DIR/tree.jsonl"', 'tree.jsonl is shorter than before.'],
  ['removed', 'rm "$RUN_DIR/tree.jsonl"', 'tree.jsonl is gone.'],
  ['written to', 'echo {} >> "$RUN_DIR/tree.jsonl"', 'tree.jsonl has a line that no run wrote.'],
  [
    'replaced',
    'cd "$RUN_DIR" && mv tree.jsonl moved && ln -s moved tree.jsonl',
    'tree.jsonl (too many symbolic links encountered).',
  ],
  [
    "a sub-agent's journal cut",
    'truncate -s -10 a/.delta/2*/journal.jsonl',
    'journal.jsonl is shorter than before.',
  ],
])(
  '%s, what sub-agents spend can no longer be counted: the run ends, and does not go on',
  async (_title, shell, why) => {
    const { run, at, server } = await tampered(shell)
    const { exitCode, stderr } = await run('-q')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /^FAILED \(limit_cost\) after 2 iterations: .* What the sub-agents spend can no longer be counted, so all runs of this tree stop\.\n/,
    )
    expect(stderr).toContain(why)
    const requests = server.requests().length
    if (!shell.includes('journal'))
      expect(await at('continue', '--retry', '-q')).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/^FAILED \(limit_cost\) after 2 iterations: /),
      })
    expect(server.requests()).toHaveLength(requests)
  },
)

test('a list that a sub-agent removes before its caller has read it is missed when the sub-agent ends', async () => {
  const { run, server } = await family(
    { turns: [delegating, done], conversations: [{ when: 'Assist', turns: [working, done] }] },
    {
      agent: { limits: { cost: 1 } },
      tools: [{ ...delegate, exec: delegate.exec.replace('Ask', 'Assist').replace('middle', 'child') }],
      child: { tools: [{ name: 'work', shell: 'rm "$DELTA_ROOT_RUN/tree.jsonl"' }] },
    },
  )
  expect((await run('-q')).stderr).toMatch(
    /^FAILED \(limit_cost\) after 1 iteration: \S+\/tree\.jsonl does not say who called \S+\/m\/\.delta\/\S+\. What the sub-agents spend/,
  )
  expect(server.requests()).toHaveLength(2)
})

test('the limit that what cannot be counted would break is named: of tokens, if that is the only one', async () => {
  const { run } = await tampered('rm "$RUN_DIR/tree.jsonl"', { limits: { tokens: 1_000_000 } })
  expect((await run('-q')).stderr).toMatch(/^FAILED \(limit_tokens\)/)
})

test('a sub-agent that cannot be listed sends no request', async () => {
  const shell = `mkdir "$DELTA_ROOT_RUN/tree.jsonl"; ${run_child} -w a`
  const { run, events, server } = await family(
    { turns: [calls('help'), done], conversations: [HELPED] },
    { agent: { limits: { cost: 1 } }, tools: [{ name: 'help', shell }] },
  )
  expect((await run('-q')).stderr).toMatch(
    /^FAILED \(limit_cost\) after 1 iteration: cannot read and write \S+\/tree\.jsonl \(/,
  )
  const [result] = (await events('ACTION_RESULT')) as { observation_content?: string }[]
  expect(result?.observation_content).toMatch(
    /FAILED \(limit_cost\): cannot write \S+\/tree\.jsonl \(illegal operation on a directory\)\. This run spends from the limits of \S+ and would not be counted\.\n/,
  )
  expect(server.requests()).toHaveLength(1)
})

test('a removed sub-agent counts by what it said when it ended; one that was killed and removed ends the run', async () => {
  const { run } = await tampered('rm -r a', { limits: { cost: 5.5 * COST } })
  expect((await run('-q')).stderr).toContain(
    '$0.00336 of $0.00308 is spent, $0.00224 of it by 1 sub-agent.\n',
  )
  const killed = `delta run --agent \${AGENT_HOME}/child -m Assist -w a -q; rm -r a`
  const hooks = "post_llm_response: { command: [sh, -c, 'kill -9 $PPID'] }\n"
  const other = await family(
    { turns: [calls('help'), done], conversations: [HELPED] },
    {
      agent: { limits: { cost: 1 } },
      tools: [{ name: 'help', shell: killed }],
      files: { 'child/hooks.yaml': hooks },
    },
  )
  expect((await other.run('-q')).stderr).toMatch(
    /^FAILED \(limit_cost\) after 1 iteration: \S+\/a\/\.delta\/\S+ is gone, and did not say what it spent\. /,
  )
  expect(other.server.requests()).toHaveLength(2)
})

test('what a killed sub-agent has spent counts, and it stops itself when a person continues the caller', async () => {
  const { run, at, workspace, server } = await family(
    {
      turns: [calls('help', { where: 'a' }), calls('help', { where: 'a' }), done].map((turn) => ({
        ...turn,
        usage: USAGE,
      })),
      conversations: [HELPED],
    },
    {
      agent: { limits: { cost: 3.5 * COST } },
      tools: [help],
      child: { tools: [{ name: 'work', shell: 'echo >> n; [ $(wc -l < n) -ne 2 ] || kill -9 $PPID' }] },
    },
  )
  expect((await run('-q')).exitCode).toBe(1)
  expect(server.requests()).toHaveLength(4)
  expect(
    readdirSync(join(workspace.path, 'a', '.delta')).filter((name) => name.startsWith('2')),
  ).toHaveLength(1)
  expect((await at('continue', '--retry', '-q', '--set', 'limits.cost=1')).stdout).toBe('Done.\n')
})

test('a sub-agent counts that was killed with its caller, also when the workspace is named by a link', async () => {
  const shell = `${run_child} -w a; kill -9 $PPID`
  const { run, workspace, server } = await family(
    { turns: [{ ...calls('help'), usage: USAGE }, done], conversations: [HELPED] },
    { agent: { limits: { cost: 4.5 * COST } }, tools: [{ name: 'help', shell }], isProcess: true },
  )
  expect((await run('-q')).signal).toBe('SIGKILL')
  const link = `${workspace.path}-link`
  await symlink(workspace.path, link)
  onTestFinished(() => rm(link))
  expect((await delta(['continue', '-w', link, '-q'], { env: KEY })).stderr).toContain(
    '$0.0028 of $0.00252 is spent, $0.00224 of it by 1 sub-agent.\n',
  )
  expect(server.requests()).toHaveLength(5)
})

test('without limits in a tree nothing is read for them, whatever became of its files', async () => {
  const { run } = await tampered(
    'echo {} > "$RUN_DIR/tree.jsonl"; truncate -s 10 a/.delta/2*/journal.jsonl',
    {
      limits: {},
    },
  )
  expect((await run('-q')).stdout).toBe('Done.\n')
})

const sleep = { name: 'sleep', exec: 'sleep 300' }

test('at the limit of its time a command is stopped, and the run ends; under the same limit it runs nothing', async () => {
  const turns = [{ ...calls('sleep') }, done]
  const { run, at, events, server } = await served(turns, {
    agent: { limits: { wall_time: '1s' } },
    tools: [sleep],
  })
  const { exitCode, stdout, stderr } = await run('--format', 'json')
  expect(exitCode).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ status: 'FAILED', reason_code: 'limit_wall_time' })
  expect(stderr).toContain(
    '\nFAILED (limit_wall_time) after 1 iteration: limits.wall_time of 1s is reached.\n',
  )
  expect(wayOn(stderr)).toBe('--retry --set limits.wall_time=2s')
  expect(await events('ACTION_RESULT')).toMatchObject([{ status: 'INTERRUPTED', signal: 'SIGTERM' }])
  expect(await at('continue', '--retry', '-q')).toMatchObject({ exitCode: 1 })
  expect(server.requests()).toHaveLength(1)
  expect((await at('continue', '--retry', '-q', '--set', 'limits.wall_time=4h')).stdout).toBe('Done.\n')
})

test('the time counts through kills: what was left is what the next engine has', async () => {
  const { run, at, events, workspace } = await served(
    [calls('slow'), calls('stay'), done],
    {
      agent: { limits: { wall_time: '3s' } },
      tools: [
        { name: 'slow', shell: 'sleep 1.2' },
        { name: 'stay', shell: 'echo "$DELTA_DEADLINE" > deadline; exec sleep 300' },
      ],
      files: {
        'hooks.yaml': `on_iteration_end: { command: [sh, -c, 'test -e gone || { touch gone; kill -9 $PPID; }'] }\n`,
      },
    },
    { isProcess: true },
  )
  expect((await run('-q')).signal).toBe('SIGKILL')
  // a slow machine may not come to the second iteration
  expect((await at('continue', '-q')).stderr).toMatch(/\nFAILED \(limit_wall_time\) after [12] iterations?: /)
  const [end] = (await events('ENGINE_END')) as { totals?: { duration_ms: number } }[]
  expect(end?.totals?.duration_ms).toBeGreaterThanOrEqual(3000)
  if (!(await workspace.has('deadline'))) return
  const started = Date.parse(String((await events('ENGINE_START'))[1]?.timestamp))
  expect(Number(await workspace.read('deadline')) - started).toBeLessThan(2800)
})

test('a request is not cut at the limit; what it asks for is not begun', async () => {
  const turns = [{ ...calls('work'), hold: 'answer' }, done]
  const { start, events, server, workspace } = await served(turns, {
    agent: { limits: { wall_time: '0.5s' } },
    tools: [{ name: 'work', exec: 'touch done' }],
  })
  const engine = start('-q')
  await server.waitForRequests(1)
  await new Promise((resolve) => setTimeout(resolve, 600)) // nothing happens meanwhile, which is the point
  server.release('answer')
  const { exitCode, stderr } = await engine.result
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('(limit_wall_time)'),
  })
  expect(await events('THOUGHT')).toHaveLength(1)
  expect(workspace.has('done')).toBe(false)
})

test('a sub-agent knows when its caller must end, and ends then as of a limit of its own', async () => {
  const { run, events, workspace } = await family(
    {
      turns: [calls('help', { where: 'a' }), done],
      conversations: [{ when: 'Assist', turns: [calls('sleep')] }],
    },
    { agent: { limits: { wall_time: '2s' } }, tools: [help], child: { tools: [sleep] } },
  )
  const { exitCode, stderr } = await run('-q')
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('limits.wall_time of 2s'),
  })
  const [result] = (await events('ACTION_RESULT')) as unknown as Ended[]
  expect(result?.child_runs).toMatchObject([{ status: 'FAILED', reason_code: 'limit_wall_time' }])
  const [child = ''] = readdirSync(join(workspace.path, 'a', '.delta')).filter((name) => name.startsWith('2'))
  const journal = await workspace.read(`a/.delta/${child}/journal.jsonl`)
  expect(journal).toContain('The time of the run that started this one is up.')
})

test('DELTA_DEADLINE is ignored outside a run', async () => {
  const { run } = await scene(
    {
      tools: [{ name: 'look', shell: 'echo "[$DELTA_DEADLINE]"' }],
      turns: [calls('look'), { content: '{{last_observation}}' }],
    },
    { env: { DELTA_DEADLINE: '1' } },
  )
  expect((await run('-q')).stdout).toBe('[]\n')
})

test('the answers of sub-agents that are killed before they can use them count', async () => {
  const hooks = "post_llm_response: { command: [sh, -c, 'kill -9 $PPID'] }\n"
  const turns = [{ ...calls('help'), usage: USAGE, times: 9 }, done]
  const { run, server } = await family(
    { turns, conversations: [{ when: 'Assist', turns: [done] }] },
    {
      agent: { limits: { cost: 4 * COST } },
      tools: [{ name: 'help', exec: `${run_child} --new -w k` }],
      files: { 'child/hooks.yaml': hooks },
    },
  )
  const { exitCode, stdout } = await run('-q', '--format', 'json')
  expect(exitCode).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({
    reason_code: 'limit_cost',
    reason: '$0.00224 of $0.00224 is spent, $0.00112 of it by 2 sub-agents.',
    totals: { sub_agents: { runs: 2, requests: 2 } },
  })
  expect(server.requests()).toHaveLength(4)
})

test('a sub-agent that a tool hides from its limits is counted by its caller, if it is listed', async () => {
  const turns = [{ ...calls('help'), usage: USAGE, times: 3 }, done]
  const help = {
    name: 'help',
    shell: `unset DELTA_LIMITED_BY; ${run_child} --new -w k`,
    pass_env: ['DELTA_API_KEY'],
  }
  const { run } = await family(
    { turns, conversations: [HELPED] },
    { agent: { limits: { cost: 3 * COST } }, tools: [help], child: { prices: PRICES } },
  )
  expect(await run('-q')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(
      'FAILED (limit_cost) after 1 iteration: $0.0028 of $0.00168 is spent, $0.00224 of it by 1 sub-agent.',
    ),
  })
})

test('after an answer that breaks off in its text, a limit of dollars ends the run', async () => {
  const turn = { content: 'A long story. '.repeat(50), before: [{ fault: 'truncated' as const }] }
  const { run, server } = await served([turn], { agent: { prices: PRICES, limits: { cost: 1 } } })
  expect((await run('-q')).stderr).toContain('The provider did not say what the answer cost.')
  expect(server.requests()).toHaveLength(1)
})
