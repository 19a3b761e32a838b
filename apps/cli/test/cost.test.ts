import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startScriptedServer } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, KEY, scene, served } from './delta.js'

const PRICES = [{ match: 'scripted', input: 2, cache_read: 0.2, output: 10 }]
/** 100 new tokens, 800 cached and 20 written: 100 × 2 + 800 × 0.2 + 20 × 10 = 560 millionths of a dollar. */
const USAGE = { prompt_tokens: 900, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 800 } }
const COST = 0.00056

const work = { name: 'work', exec: 'true' }

test('each request is priced as it is answered, and the sum stands at the end, in the list of runs and in JSON', async () => {
  const turns = [
    { ...calls('work'), usage: USAGE },
    { content: 'Done.', usage: USAGE },
  ]
  const { run, at, events, workspace } = await served(turns, { agent: { prices: PRICES }, tools: [work] })
  const { stdout, stderr } = await run('--format', 'json', '-v')
  expect(stderr).toMatch(/1\. \(900 \+ 20 tokens, 800 cached, [\d.]+ m?s\)/)
  expect(stderr).toMatch(/2\. \(900 \+ 20 tokens, 800 cached, [\d.]+ m?s\)/)
  expect(stderr).toContain('COMPLETED after 2 iterations, 1840 tokens, $0.00112')
  const { totals } = JSON.parse(stdout)
  const tokens = { input: 200, cache_read: 1600, cache_write: 0, output: 40, reasoning: 0 }
  expect(totals.own).toMatchObject({ requests: 2, unreported: 0, tokens, priced: 1 })
  expect(totals.all.cost).toBeCloseTo(2 * COST, 12)
  const [thought, ...others] = await events('THOUGHT')
  expect(others).toHaveLength(1)
  expect(thought).toMatchObject({
    provider: null,
    price: { input: 2, cache_read: 0.2, cache_write: 2, output: 10 },
  })
  const [end] = await events('ENGINE_END')
  expect(end).toMatchObject({ totals })
  expect((await at('list-runs')).stdout).toMatch(/COST\s+TASK\n.*\s1840\s+\$0\.00112\s/)
  const [listed] = JSON.parse((await at('list-runs', '--json')).stdout)
  expect(listed.totals.by_model).toEqual({ scripted: expect.objectContaining({ requests: 2 }) })
  const metadata = JSON.parse(await workspace.read(`.delta/${listed.run_id}/metadata.json`))
  expect(metadata.totals.all).toEqual(totals.all)
})

test('what the provider did not count is estimated in each sum, and the time of its request is shown; a hook is no part of it', async () => {
  const turns = [
    { ...calls('work'), usage: null },
    { content: 'Done.', usage: USAGE },
  ]
  const { run, at, events, workspace } = await served(turns, {
    agent: { prices: PRICES },
    tools: [work],
    files: { 'hooks.yaml': "post_llm_response: { command: ['true'] }\n" },
  })
  const { stderr } = await run('-v')
  const [, sum] = /^COMPLETED after 2 iterations, ~(\d+) tokens, \$0\.00056$/m.exec(stderr) ?? []
  expect(Number(sum)).toBeGreaterThan(920)
  expect((await at('list-runs')).stdout).toMatch(new RegExp(`\\s~${sum}\\s+\\$0\\.00056\\s`))
  expect(stderr).toMatch(/^1\. \([\d.]+ m?s\)$/m)
  const told = (await events()).map((event, index) => ({
    ...event,
    timestamp: new Date(1000 * index).toISOString(),
    ...(event.type === 'HOOK_EXECUTION_AUDIT' && { duration_ms: 900 }),
  }))
  const path = `.delta/${(await workspace.read('.delta/LATEST')).trim()}/journal.jsonl`
  await workspace.write(path, told.map((event) => `${JSON.stringify(event)}\n`).join(''))
  const shown = (await at('show', '-v')).stdout
  expect(shown.match(/^\d\. .*$/gm)).toEqual(['1. (1.1 s)', '2. Done. (900 + 20 tokens, 800 cached, 1.1 s)'])
})

test('an answer that came before a kill was paid for, each time: it counts when the run goes on', async () => {
  const hooks = `post_llm_response: { command: [sh, -c, 'echo >> kills; [ $(wc -l < kills) -gt 2 ] || kill -9 $PPID'] }\n`
  const turns = [{ content: 'Done.', usage: USAGE }, { content: 'More.' }]
  const { run, at, events } = await served(
    turns,
    { agent: { prices: PRICES }, files: { 'hooks.yaml': hooks } },
    { isProcess: true },
  )
  expect((await run('-q')).signal).toBe('SIGKILL')
  expect((await at('continue', '-q')).signal).toBe('SIGKILL')
  expect((await at('continue', '-q')).stdout).toBe('Done.\n')
  const lost = await events('ERROR')
  expect(lost.map(({ error_message }) => error_message)).toEqual(
    Array(2).fill('The answer of iteration 1 was lost when the engine ended. It was paid for.'),
  )
  const [{ totals } = {}] = (await events('ENGINE_END')) as { totals?: { own: object & { cost: number } } }[]
  expect(totals?.own).toMatchObject({ requests: 3, tokens: { input: 300, cache_read: 2400, output: 60 } })
  expect(totals?.own.cost).toBeCloseTo(3 * COST, 12)
  expect((await at('continue', '-q', '-m', 'More')).stdout).toBe('More.\n')
  expect(await events('ERROR')).toHaveLength(2)
})

test('an answer that cannot be used was paid for, whether it is asked again or ends the run', async () => {
  const unusable = { role: 'assistant', tool_calls: 'none' }
  const messages = [unusable, { role: 'assistant', content: 'Done.' }, unusable, unusable]
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const choices = [{ message: messages.shift(), finish_reason: 'stop' }]
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ model: 'small', choices, usage: USAGE }))
    })
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const llm = { model: 'small', base_url: `http://127.0.0.1:${port}/v1`, stream: false, max_attempts: 2 }
  const { run, events } = await scene(
    { agent: { llm, prices: [{ ...PRICES[0], match: 'small' }] } },
    { env: KEY },
  )
  const spent = async () => JSON.parse((await run('-q', '--new', '--format', 'json')).stdout).totals.own
  for (const recoverable of [[true], [true, false]]) {
    expect(await spent()).toMatchObject({ requests: 2, cost: 2 * COST })
    expect((await events('ERROR')).map((event) => event.recoverable)).toEqual(recoverable)
  }
})

test('an answer that a hook held back was paid for, too', async () => {
  const hooks = `post_llm_response: { command: [sh, -c, 'echo "{\\"action\\": \\"stop\\", \\"reason\\": \\"No.\\"}" > "$DELTA_HOOK_IO_PATH/output/control.json"'] }\n`
  const turns = [{ content: 'Done.', usage: USAGE }]
  const { run, events } = await served(turns, { agent: { prices: PRICES }, files: { 'hooks.yaml': hooks } })
  expect((await run('-q')).exitCode).toBe(1)
  const [{ totals } = {}] = (await events('ENGINE_END')) as { totals?: object }[]
  expect(totals).toMatchObject({ own: { requests: 1, cost: COST } })
})

test('prices of --prices come before those of the agent, and of DELTA_PRICES after them', async () => {
  const turns = [{ content: 'Done.', usage: USAGE }]
  const files = (input: number) => `- { match: 'scr*', input: ${input}, output: 0 }\n`
  const { run, at, events, workspace } = await served(turns, { agent: { prices: PRICES } })
  await workspace.write('mine.yaml', files(5))
  const priceOf = async () => ((await events('THOUGHT')).at(-1) as { price?: { input: number } }).price?.input
  await run('-q', '--prices', `${workspace.path}/mine.yaml`)
  expect(await priceOf()).toBe(5)
  await run('-q', '--new')
  expect(await priceOf()).toBe(2)
  await run('-q', '--new', '--set', 'prices=')
  expect(await priceOf()).toBeUndefined()
  const { exitCode, stderr } = await at('run', '-q', '--new', '--prices', 'none.yaml')
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('none.yaml: The file does not exist.'),
  })
})

/** A model that prints the same answer each time, and counts as `USAGE`. */
const CHILD = {
  'child/agent.yaml': JSON.stringify({
    name: 'child',
    llm: { provider: 'command', command: ['cat', 'answer.json'] },
    prices: [{ ...PRICES[0], match: 'small' }],
  }),
  'child/context.yaml': 'sources: [{ type: journal }]\n',
  'child/answer.json': JSON.stringify({
    model: 'small',
    choices: [{ message: { role: 'assistant', content: 'Helped.' } }],
    usage: USAGE,
  }),
}
const help = { name: 'help', exec: 'delta run --agent ${AGENT_HOME}/child -m Help -w ${where} -q' }

test('a run counts what its sub-agents cost, and theirs, side by side or one after another', async () => {
  const both = ['a', 'b'].map((where) => ({ name: 'help', arguments: { where } }))
  const middle = {
    'middle/agent.yaml': JSON.stringify({
      name: 'middle',
      llm: { provider: 'script', script: 'script.yaml' },
      tools: [{ ...help, exec: help.exec.replace('/child', '/../child') }],
    }),
    'middle/context.yaml': CHILD['child/context.yaml'],
    'middle/script.yaml': JSON.stringify([calls('help', { where: 'c' }), { content: 'Asked.' }]),
  }
  const turns = [
    { tool_calls: [...both, { name: 'delegate', arguments: {} }], usage: USAGE },
    { content: 'Done.', usage: USAGE },
  ]
  const delegate = { name: 'delegate', exec: 'delta run --agent ${AGENT_HOME}/middle -m Ask -w middle -q' }
  const { run, at, events, workspace } = await served(turns, {
    agent: { prices: PRICES, tool_concurrency: 3 },
    tools: [help, delegate],
    files: { ...CHILD, ...middle },
  })
  const { totals, run_directory } = JSON.parse((await run('-q', '--format', 'json')).stdout)
  expect(totals.own).toMatchObject({ runs: 1, requests: 2 })
  expect(totals.sub_agents).toMatchObject({
    runs: 4,
    requests: 5,
    tokens: { input: 300, cache_read: 2400, output: 60 },
  })
  expect(totals.all.cost).toBeCloseTo(5 * COST, 12)
  expect(totals.by_model).toMatchObject({
    small: { requests: 3 },
    scripted: { requests: 2 },
    script: { requests: 2 },
  })
  const results = (await events('ACTION_RESULT')) as {
    child_runs?: { status: string; directory: string }[]
  }[]
  expect(results.map(({ child_runs = [] }) => child_runs.map(({ status }) => status))).toEqual(
    Array(3).fill(['COMPLETED']),
  )
  expect((await at('list-runs')).stdout).toMatch(/scripted \+2\s+4600\s+\$0\.0028\s/)
  const tree = (
    await workspace.read(`${run_directory.slice(workspace.path.length + 1)}/tree.jsonl`)
  ).trimEnd()
  expect(
    tree
      .split('\n')
      .map((line) => JSON.parse(line).type)
      .sort(),
  ).toEqual([...Array(4).fill('END'), ...Array(4).fill('RUN')])
})

test('the answer that a sub-agent got before it was killed counts; one whose directory is gone is named', async () => {
  const killed = { ...help, shell: 'delta run --agent ${AGENT_HOME}/child -m Help -w k -q', exec: undefined }
  const gone = { name: 'gone', shell: 'delta run --agent ${AGENT_HOME}/child -m Help -w g -q; rm -r g' }
  const hooks = "post_llm_response: { command: [sh, -c, 'kill -9 $PPID'] }\n"
  const turns = [
    { ...calls('help'), usage: USAGE },
    { ...calls('gone'), usage: USAGE },
    { content: 'Done.', usage: USAGE },
  ]
  const { run, events, workspace } = await served(turns, {
    agent: { prices: PRICES },
    tools: [{ name: 'help', shell: killed.shell }, gone],
    files: { ...CHILD, 'child/hooks.yaml': hooks },
  })
  const { totals } = JSON.parse((await run('-q', '--format', 'json')).stdout)
  const results = (await events('ACTION_RESULT')) as { child_runs?: object[] }[]
  expect(results.map(({ child_runs }) => child_runs)).toMatchObject([
    [{ status: 'INTERRUPTED', reason_code: 'killed', totals: { own: { requests: 1, cost: COST } } }],
    [{ status: null, totals: null }],
  ])
  expect(totals.sub_agents).toMatchObject({ runs: 1, requests: 1, cost: COST })
  expect(workspace.has('g')).toBe(false)
})

test('a killed run that nobody continues shows what its last answer cost, and once when it goes on', async () => {
  const hooks = `post_llm_response: { command: [sh, -c, 'echo >> kills; [ $(wc -l < kills) -gt 1 ] || kill -9 $PPID'] }\n`
  const { run, at } = await served(
    [{ content: 'Done.', usage: USAGE }],
    { agent: { prices: PRICES }, files: { 'hooks.yaml': hooks } },
    { isProcess: true },
  )
  const listed = async () => JSON.parse((await at('list-runs', '--json')).stdout)[0]
  expect((await run('-q')).signal).toBe('SIGKILL')
  const killed = await listed()
  expect(killed).toMatchObject({ status: 'INTERRUPTED', totals: { own: { requests: 1, cost: COST } } })
  const { totals } = JSON.parse((await at('cost', '--json')).stdout)
  expect(totals.own).toMatchObject({ requests: 1, cost: COST, priced: 1 })
  await at('continue', '-q')
  expect(await listed()).toMatchObject({ totals: { own: { requests: 2, cost: 2 * COST } } })
})

test('a sub-agent that goes on after it was killed counts its lost answer once, also if its caller has ended', async () => {
  const hooks = `post_llm_response: { command: [sh, -c, 'echo >> kills; [ $(wc -l < kills) -gt 1 ] || kill -9 $PPID'] }\n`
  const shell = 'delta run --agent ${AGENT_HOME}/child -m Help -w k -q'
  const more = `${shell}; delta continue -w k -q`
  for (const [command, requests] of [[shell, 1] as const, [more, 2] as const]) {
    const turns = [calls('help'), { content: 'Done.', usage: USAGE }]
    const { run, at, workspace } = await served(turns, {
      tools: [{ name: 'help', shell: command }],
      files: { ...CHILD, 'child/hooks.yaml': hooks },
    })
    const { totals } = JSON.parse((await run('-q', '--format', 'json')).stdout)
    expect(totals.sub_agents).toMatchObject({ runs: 1, requests })
    expect(totals.sub_agents.cost).toBeCloseTo(requests * COST, 12)
    if (requests === 1) await delta(['continue', '-w', `${workspace.path}/k`, '-q'])
    const cost = JSON.parse((await at('cost', '--json', '--by', 'run')).stdout)
    expect(cost.totals.sub_agents).toMatchObject({ runs: 1, requests: 2 })
  }
})

test.each([{ provider: 'openai' }, { provider: 'openai', api: 'responses' }])(
  'an answer that breaks off in its text was paid for, and nobody says what it cost: %j',
  async (llm) => {
    const content = 'It is a long story. '.repeat(50)
    const turn = {
      content,
      usage: USAGE,
      before: [{ fault: 'truncated' as const }, { fault: 'cut' as const }],
    }
    const server = await startScriptedServer([turn])
    onTestFinished(() => server.close())
    const agent = { llm: { ...llm, model: 'scripted', base_url: server.baseUrl }, prices: PRICES }
    const { run, events } = await scene({ agent }, { env: KEY })
    const { stdout } = await run('-q', '--format', 'json')
    expect(server.requests()).toHaveLength(3)
    const { own } = JSON.parse(stdout).totals
    expect(own).toMatchObject({ requests: 3, unreported: 2, cost: expect.closeTo(COST, 12) })
    expect(own.estimated).toBeGreaterThan(100)
    expect(own.priced).toBeLessThan(1)
    expect((await events('ERROR')).map(({ tokens }) => tokens)).toEqual([null, null])
  },
)

test('a link in the place of tree.jsonl is not followed; the run says that it is not counted', async () => {
  const shell =
    'ln -s "$PWD/victim" "$DELTA_ROOT_RUN/tree.jsonl"; delta run --agent ${AGENT_HOME}/child -m Help -w k'
  const turns = [calls('help'), { content: '{{last_observation}}' }]
  const { run, workspace } = await served(turns, { tools: [{ name: 'help', shell }], files: CHILD })
  await workspace.write('victim', '')
  expect((await run('-q')).stdout).toMatch(
    /does not count what it costs: \S+\/tree\.jsonl cannot be written \(too many symbolic links/,
  )
  expect(await workspace.read('victim')).toBe('')
})

test('whatever a tool writes into tree.jsonl, the run goes on, and is listed', async () => {
  const lines = [
    '[]',
    '{"all":{"tokens":{}},"by_model":null}',
    '{"all":{"cost":"much"},"by_model":{}}',
    '7',
  ].map(
    (totals, index) =>
      `{"type":"RUN","run_id":"r","directory":"/${index}","caller":{"directory":"'"$RUN_DIR"'","action_id":"'"$DELTA_ACTION_ID"'"}}\n` +
      `{"type":"END","run_id":"r","directory":"/${index}","status":[],"totals":${totals}}\n`,
  )
  const shell = `printf '%s' '${[...lines, 'null\n', '{"type":'].join('')}' > "$DELTA_ROOT_RUN/tree.jsonl"`
  const { run, at, events } = await served([calls('lie'), { content: 'Done.' }], {
    tools: [{ name: 'lie', shell }],
  })
  const { totals, answer } = JSON.parse((await run('-q', '--format', 'json')).stdout)
  expect(answer).toBe('Done.')
  expect(totals.sub_agents).toMatchObject({ runs: 0, requests: 0 })
  const [result] = (await events('ACTION_RESULT')) as { child_runs?: object[] }[]
  expect(result?.child_runs).toHaveLength(4)
  expect(await at('list-runs')).toMatchObject({ exitCode: 0, stderr: '' })
})

test('a run that a tool names as its own sub-agent, by another name, is read once', async () => {
  const line =
    '{"type":"RUN","run_id":"r","directory":"\'"$RUN_DIR"\'/.","caller":{"directory":"\'"$RUN_DIR"\'","action_id":"\'"$DELTA_ACTION_ID"\'"}}'
  const shell = `echo '${line}' > "$DELTA_ROOT_RUN/tree.jsonl"`
  const { run, at } = await served([calls('lie'), { content: 'Done.' }], { tools: [{ name: 'lie', shell }] })
  await run('-q')
  for (const command of ['list-runs', 'cost']) expect(await at(command)).toMatchObject({ exitCode: 0 })
})

test('without the parts of its requests a run is counted by step, and nothing is said of its cache', async () => {
  const turns = [{ ...calls('work'), usage: USAGE }, calls('work'), { content: 'Done.', usage: USAGE }]
  const { run, at } = await served(turns, { agent: { prices: PRICES }, tools: [work] })
  const { run_directory } = JSON.parse((await run('-q', '--format', 'json')).stdout)
  await rm(`${run_directory}/io/parts.jsonl`)
  expect((await at('cost', '--by', 'step')).stdout).toMatch(/^1 .*\n2 .*\n3 .*\nall /m)
  expect(await at('cost', '--cache')).toMatchObject({ exitCode: 0, stderr: '' })
})

test('what a record calls a source cannot steer the terminal', async () => {
  const turns = [calls('work'), { content: 'Done.' }]
  const { run, at } = await served(turns, {
    agent: { prices: PRICES },
    tools: [work],
    files: {
      'context.yaml': JSON.stringify({
        sources: [{ type: 'journal' }, { type: 'text', id: '\u001b[2Jx', text: 'y' }],
      }),
    },
  })
  await run('-q')
  const { stdout } = await at('cost', '--cache')
  expect(stdout).toContain('`\\x1b[2Jx` stands behind')
})

test('a request that a hook has changed and the provider has not counted has the same estimate in each table', async () => {
  const shell = `sed '1s/{/{"temperature":0.5,/' "$DELTA_HOOK_IO_PATH/input/proposed_payload.json" > "$DELTA_HOOK_IO_PATH/output/final_payload.json"`
  const turns = [
    { ...calls('work'), usage: null },
    { content: 'Done.', usage: USAGE },
  ]
  const { run, at } = await served(turns, {
    agent: { prices: PRICES },
    tools: [work],
    files: { 'hooks.yaml': JSON.stringify({ pre_llm_request: { command: ['sh', '-c', shell] } }) },
  })
  await run('-q')
  const estimates = ['source', 'step', 'tool', 'call'].map(async (by) => {
    const { rows } = JSON.parse((await at('cost', '--json', '--by', by)).stdout) as {
      rows: { estimated: number }[]
    }
    return rows.reduce((sum, { estimated }) => sum + estimated, 0)
  })
  const [source, ...others] = await Promise.all(estimates)
  expect(source).toBeGreaterThan(0)
  expect(others).toEqual([source, source, source])
})
