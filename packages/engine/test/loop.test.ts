import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startScriptedServer } from '@delta/testkit'
import { expect, test } from 'vitest'
import { actionIdFor } from '../src/think.js'
import { eventsOfType, scene } from './run.js'

const ECHO = { name: 'say', exec: 'echo ${text}' }

test('out of iterations the run has FAILED with MAX_ITERATIONS, and a message allows as many again', async () => {
  const call = { tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] }
  const { run, resume } = await scene({ turns: [call, call, call, { content: 'At last.' }], tools: [ECHO] })
  expect(await run({ maxIterations: 2 })).toMatchObject({
    status: 'FAILED',
    reason: 'MAX_ITERATIONS',
    maxIterations: 2,
    iterations: 2,
  })
  expect(await resume({ message: 'Go on' })).toMatchObject({
    status: 'COMPLETED',
    answer: 'At last.',
    iterations: 4,
  })
})

test('every call of the model, however malformed, gets exactly one result', async () => {
  const calls = [
    { name: 'say', arguments: '{"text": broken' },
    { name: 'say', arguments: '[1]' },
    { name: 'say', arguments: 'null' },
    { name: 'unknown_tool', arguments: {} },
    { name: 'say', arguments: { text: { nested: true } } },
    { name: 'say', arguments: { __proto__: 'x', text: 'fine' } },
    { id: '../../escape', name: 'say', arguments: { text: 'fine' } },
    { id: 'x'.repeat(300), name: 'say', arguments: { text: 'fine' } },
    { name: '../../evil tool', arguments: {} },
    { name: '', arguments: {} },
  ]
  await using server = await startScriptedServer([{ tool_calls: calls }, { content: 'Done.' }])
  const { run, workspace } = await scene({ baseUrl: server.baseUrl, tools: [ECHO] })
  const result = await run()
  expect(result.status).toBe('COMPLETED')
  const results = await eventsOfType(result, 'ACTION_RESULT')
  expect(results.map((event) => 'status' in event && event.status)).toEqual([
    ...Array(5).fill('ERROR'),
    ...Array(3).fill('SUCCESS'),
    ...Array(2).fill('ERROR'),
  ])
  expect(await eventsOfType(result, 'ACTION_REQUEST')).toHaveLength(calls.length)
  expect((await workspace.files()).every((file) => file.startsWith('.delta/'))).toBe(true)
})

test.each([
  ['call_1', 'call_1'],
  ['functions.write_file:0', 'functions.write_file:0'],
  ['../../etc/passwd', '3-1'],
  ['..', '3-1'],
  ['.a', '3-1'],
  ['', '3-1'],
  ['x'.repeat(300), '3-1'],
  ['a b', '3-1'],
  ['a\0b', '3-1'],
  ['used', '3-1'],
])(
  'the id %j of a call is journaled as %s: unless it is safe and unused, as <iteration>-<index>',
  (id, journaled) => {
    expect(actionIdFor(id, { iteration: 3, index: 1, isUsed: (other) => other === 'used' })).toBe(journaled)
  },
)

test('a model that uses the same form of id gets no two calls under one id', () => {
  expect(actionIdFor('2-0', { iteration: 2, index: 0, isUsed: (id) => id === '2-0' })).not.toBe('2-0')
})

test('no line of a run contains half characters, so that jq and strict servers can read it; a value with one is refused', async () => {
  const calls = [
    { name: 'say', arguments: '{"text":"\\ud83d"}' },
    { name: 'say\ud83d', arguments: '{"text":"\ude00"}' },
  ]
  await using server = await startScriptedServer([
    { content: 'cut \ud83d', tool_calls: calls },
    { content: 'Done.' },
  ])
  const { run } = await scene({ baseUrl: server.baseUrl, tools: [ECHO] })
  const result = await run()
  expect(result.status).toBe('COMPLETED')
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([
    { status: 'ERROR' },
    { status: 'ERROR' },
  ])
  const HALF = /(?<!\\)\\ud[89a-f]/
  for (const file of ['journal.jsonl', 'io/parts.jsonl'])
    expect(await readFile(join(result.runDirectory, file), 'utf8')).not.toMatch(HALF)
  expect(server.requests()[1]?.body).not.toMatch(HALF)
})

test.each([
  ['as long as max_wait says, however many attempts that takes', { retry: { max_wait: '1h' } }, 7],
  ['at most max_attempts times, also within max_wait', { retry: { max_wait: '1h' }, max_attempts: 3 }, 3],
  ['no longer than max_wait', { retry: { max_wait: '0ms' } }, 1],
])('a request is tried again %s', async (_, patience, attempts) => {
  await using server = await startScriptedServer([
    {
      before: Array.from({ length: 6 }, () => ({ status: 503, headers: { 'retry-after-ms': '1' } })),
      content: 'Done.',
    },
  ])
  const llm = { provider: 'openai', model: 'm', base_url: server.baseUrl, ...patience }
  const { run } = await scene({ baseUrl: server.baseUrl, agent: { llm } })
  const result = await run()
  expect(result.status).toBe(attempts === 7 ? 'COMPLETED' : 'FAILED')
  expect(server.requests()).toHaveLength(attempts)
})

test.each([
  { how: 'one at a time', tool_concurrency: 1 },
  { how: 'in parallel', tool_concurrency: 3 },
])(
  'calls after a critical tool that was not run are not run either, where calls run $how',
  async ({ tool_concurrency }) => {
    const { run, workspace } = await scene({
      ...lookCheckDeploy('true', { to: 'nowhere' }),
      agent: { tool_concurrency },
    })
    const result = await run()
    expect(result).toMatchObject({ status: 'COMPLETED', answer: 'I will ask somebody.' })
    expect([await workspace.has('looked'), await workspace.has('deployed')]).toEqual([true, false])
    expect((await eventsOfType(result, 'ACTION_RESULT')).at(-1)).toMatchObject({
      tool_name: 'deploy',
      status: 'BLOCKED',
      observation_content: expect.stringContaining(
        'Not run: "check", a critical tool, was not run, or its outcome is unknown',
      ),
    })
  },
)

test('a critical tool that fails keeps later calls from starting', async () => {
  const { run, workspace } = await scene({ ...lookCheckDeploy('false', {}), agent: { tool_concurrency: 3 } })
  expect(await run()).toMatchObject({ status: 'FAILED', reason: 'critical tool "check" ended with FAILED' })
  expect([await workspace.has('looked'), await workspace.has('deployed')]).toEqual([true, false])
})

/** Three calls in one response; the second is of a critical tool, which takes no arguments. */
function lookCheckDeploy(check: string, args: Record<string, string>) {
  return {
    turns: [
      {
        tool_calls: [
          { name: 'look', arguments: {} },
          { name: 'check', arguments: args },
          { name: 'deploy', arguments: {} },
        ],
      },
      { content: 'I will ask somebody.' },
    ],
    tools: [
      { name: 'look', shell: 'touch looked' },
      { name: 'check', exec: check, critical: true },
      { name: 'deploy', shell: 'touch deployed' },
    ],
  }
}

test('a model that is a command reads the request, and has the environment of its run and the keys of the engine', async () => {
  const script =
    'grep -q "Go" && printf \'{"content":"%s"}\' "$DELTA_PARENT_RUN $DELTA_RUN_ID $DELTA_DEPTH $DELTA_ACTION_ID $OPENAI_API_KEY"'
  const { run } = await scene({ agent: { llm: { provider: 'command', command: ['sh', '-c', script] } } })
  const above = { DELTA_ACTION_ID: 'call_1', DELTA_RUN_DIR: '/above', DELTA_DEPTH: '1' }
  const env = { PATH: process.env.PATH, OPENAI_API_KEY: 'not-a-key', ...above }
  const { answer, runDirectory, runId } = await run({ env })
  expect(answer).toBe(`${runDirectory} ${runId} 2  [REDACTED]`) // the key was there
})

test('K7: a model that is a command gets what the person exported', async () => {
  const shown = 'DELTA_API_KEY DELTA_BASE_URL OPENAI_API_KEY OPENAI_BASE_URL'
  const script = `printf '{"content":"%s"}' "$(for name in ${shown}; do printenv $name || echo -; done | tr '\\n' ' ')"`
  const { run } = await scene({ agent: { llm: { provider: 'command', command: ['sh', '-c', script] } } })
  const env = { PATH: process.env.PATH, DELTA_API_KEY: 'd', DELTA_BASE_URL: 'http://d.example' }
  const openai = { OPENAI_API_KEY: 'o', OPENAI_BASE_URL: 'http://o.example' }
  expect(await run({ env })).toMatchObject({ answer: 'd http://d.example - - ' })
  const credentials = { apiKey: 'c', exported: { ...openai, DELTA_API_KEY: 'd' } } // as the command line finds them
  expect(await run({ env, credentials })).toMatchObject({ answer: 'd - o http://o.example ' })
})

test('a command gets the key of a program with the base URL of its agent, and never with another one of the environment', async () => {
  const names = 'OPENAI_API_KEY OPENAI_BASE_URL DELTA_BASE_URL'
  const shell = `for name in ${names}; do printenv $name | rev || true; done`
  const tools = [{ name: 'look', shell, pass_env: ['OPENAI_API_KEY'] }]
  const turns = [{ tool_calls: [{ name: 'look', arguments: {} }] }, { content: '{{last_observation}}' }]
  for (const base_url of ['http://own.example', undefined]) {
    const { load, run } = await scene({ tools, turns })
    const agent = await load()
    const llm = { ...agent.llm, ...(base_url && { baseUrl: base_url }) }
    const address = { OPENAI_BASE_URL: 'http://other.example', DELTA_BASE_URL: 'http://other.example' }
    const env = { PATH: process.env.PATH, ...address }
    const { answer } = await run({ agent: { ...agent, llm }, env, credentials: { apiKey: 'key-of-program' } })
    const seen = String(answer)
      .trim()
      .split('\n')
      .map((line) => [...line].reverse().join(''))
    expect(seen).toEqual(['key-of-program', ...(base_url ? [base_url] : [])])
  }
})

test('a model that is a command is ended after timeout_ms', async () => {
  const command = ['sh', '-c', 'sleep 300']
  const { run } = await scene({ agent: { llm: { provider: 'command', command, timeout_ms: 100 } } })
  expect(await run()).toMatchObject({
    status: 'FAILED',
    reason: 'The model command sh timed out after 100 ms (timeout_ms)',
  })
})

test.each([
  ['besides its answer, words', 'echo Asked.; echo \'{"role":"assistant","content":"Hi."}\''],
  ['nothing', 'true'],
  ['calls as a script has them', 'echo \'{"tool_calls":[{"name":"say","arguments":{}}]}\''],
])('a model that is a command and prints %s, fails with what it must print', async (_what, script) => {
  const llm = { provider: 'command', command: ['sh', '-c', script] }
  const { run } = await scene({ agent: { llm } })
  const result = await run()
  expect(result).toMatchObject({
    status: 'FAILED',
    reason: expect.stringMatching(
      /^The model command sh did not print a completion: .*\nIt must print exactly one assistant message .* Messages for people belong on stderr\.$/s,
    ),
  })
})

test('the text of a thought comes as it streams, each piece with its iteration, and the whole follows', async () => {
  const turns = [{ content: 'First I look.', tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] }]
  await using server = await startScriptedServer([...turns, { content: 'It is done.' }])
  const { run } = await scene({ baseUrl: server.baseUrl, tools: [ECHO] })
  const heard: string[] = []
  const result = await run({
    stream: true,
    onEvent: (event) => {
      if (event.kind === 'delta') heard[event.iteration] = (heard[event.iteration] ?? '') + event.content
    },
  })
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'It is done.' })
  expect(heard.slice(1)).toEqual(['First I look.', 'It is done.'])
})

test('reasoning comes as it streams, apart from the text; llm.stream: false asks for no stream', async () => {
  const message = { reasoning_content: 'Two and two.' }
  await using server = await startScriptedServer([{ content: 'Four.', message, times: 2 }])
  for (const stream of [true, false]) {
    const llm = { provider: 'openai', model: 'm', base_url: server.baseUrl, stream }
    const { run } = await scene({ baseUrl: server.baseUrl, agent: { llm } })
    const heard = { delta: '', reasoning: '' }
    await run({
      stream: true,
      onEvent: (event) => {
        if (event.kind === 'delta' || event.kind === 'reasoning') heard[event.kind] += event.content
      },
    })
    expect(heard).toEqual({ delta: 'Four.', reasoning: 'Two and two.' })
  }
  expect(server.requests().map(({ json }) => Object(json).stream)).toEqual([true, undefined])
})

test('with tool_concurrency calls run in parallel, and the model reads their results in call order', async () => {
  await using server = await startScriptedServer([
    {
      tool_calls: [
        { id: 'first', name: 'wait', arguments: {} },
        { id: 'second', name: 'go', arguments: {} },
      ],
    },
    { content: 'Done.' },
  ])
  const { run } = await scene({
    baseUrl: server.baseUrl,
    agent: { tool_concurrency: 2 },
    tools: [
      { name: 'wait', shell: 'mkfifo gate 2>/dev/null; read line < gate; echo waited' },
      { name: 'go', shell: 'mkfifo gate 2>/dev/null; echo open > gate; echo went' },
    ],
  })
  const result = await run()
  expect(result.status).toBe('COMPLETED')
  const results = await eventsOfType(result, 'ACTION_RESULT')
  expect(results).toHaveLength(2)
  expect(server.requests().at(-1)?.json?.messages.slice(-2)).toMatchObject([
    { tool_call_id: 'first', content: 'waited\n' },
    { tool_call_id: 'second', content: 'went\n' },
  ])
})

test("a provider's fields on a call go back with it", async () => {
  const signature = { extra_content: { google: { thought_signature: 'signed' } } }
  const call = {
    id: 'a',
    type: 'function',
    function: { name: 'say', arguments: '{"text":"hi"}' },
    ...signature,
  }
  await using server = await startScriptedServer([
    { message: { tool_calls: [call] }, finish_reason: 'tool_calls' },
    { content: 'Said.' },
  ])
  const { run } = await scene({ baseUrl: server.baseUrl, tools: [ECHO] })
  expect(await run()).toMatchObject({ answer: 'Said.' })
  expect(JSON.stringify(server.requests()[1]?.json)).toContain(JSON.stringify(signature).slice(1, -1))
})

test('agents that call one another endlessly are stopped', async () => {
  const { run } = await scene({ turns: [{ content: 'Done.' }] })
  const env = { PATH: process.env.PATH ?? '', DELTA_DEPTH: '16' }
  await expect(run({ env })).rejects.toMatchObject({ code: 'ERR_ENGINE_TOO_DEEP' })
})

test('directories deleted under the run directory are made again', async () => {
  const { run, resume } = await scene({
    turns: [
      { content: 'One.' },
      { tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] },
      { content: 'Two.' },
    ],
    tools: [ECHO],
  })
  const { runDirectory } = await run()
  await rm(join(runDirectory, 'io'), { recursive: true })
  await rm(join(runDirectory, 'configuration'), { recursive: true })
  expect(await resume({ message: 'Go on' })).toMatchObject({ status: 'COMPLETED', answer: 'Two.' })
})

test('llm.strict_tools: the tools are offered in strict mode, and null means absent', async () => {
  const calls = [
    { name: 'say', arguments: { text: 'hi', loud: null } },
    { name: 'ask_human', arguments: { prompt: 'Which?', input_type: null, sensitive: null } },
  ]
  await using server = await startScriptedServer([{ tool_calls: calls }, { content: 'Done.' }])
  const loud = { name: 'loud', required: false }
  const { run } = await scene({
    baseUrl: server.baseUrl,
    agent: { llm: { model: 'any', strict_tools: true } },
    tools: [{ name: 'say', exec: 'echo ${text} ${loud}', parameters: [loud] }],
  })
  const result = await run({ ask: async () => 'this one' })
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([
    { observation_content: 'hi\n' },
    { observation_content: 'this one' },
  ])
  const sent = Object(server.requests()[0]?.json)
  expect(sent).not.toHaveProperty('strict_tools')
  expect(sent.tools).toMatchObject([
    { function: { strict: true, parameters: { required: ['text', 'loud'] } } },
    {
      function: {
        strict: true,
        parameters: {
          required: ['prompt', 'input_type', 'sensitive'],
          properties: { input_type: { enum: ['text', 'password', 'confirmation', null] } },
        },
      },
    },
  ])
})
