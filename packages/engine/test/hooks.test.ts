import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChatRequest } from '@delta/model'
import { startScriptedServer, waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import { calls, control, eventsOfType, hooks, output, scene } from './run.js'

const ECHO = { name: 'say', exec: 'echo ${text}' }
const SAY_HI = [
  { content: 'I speak.', tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] },
  { content: 'Said {{last_observation}}' },
]
const NAMES = [
  'on_iteration_start',
  'pre_llm_request',
  'post_llm_response',
  'pre_tool_execution',
  'post_tool_execution',
  'on_iteration_end',
  'on_run_end',
]

test('all hooks run, each at its moment, in the workspace', async () => {
  const log = (name: string) => `echo ${name} $ITERATION_COUNT $TOOL_NAME >> hooks.txt`
  const { run, workspace } = await scene({
    turns: SAY_HI,
    tools: [ECHO],
    files: hooks(Object.fromEntries(NAMES.map((name) => [name, log(name)]))),
  })
  await run()
  const lines = (await workspace.read('hooks.txt')).trimEnd().split('\n')
  expect(lines.map((line) => line.trim())).toEqual([
    ...['on_iteration_start 1', 'pre_llm_request 1', 'post_llm_response 1'],
    ...['pre_tool_execution 1 say', 'post_tool_execution 1 say', 'on_iteration_end 1'],
    ...['on_iteration_start 2', 'pre_llm_request 2', 'post_llm_response 2', 'on_iteration_end 2'],
    'on_run_end 2',
  ])
})

test("an agent that a hook starts does not get the variables of that hook's event; the user's variables stay", async () => {
  const { run, workspace } = await scene({
    turns: SAY_HI,
    tools: [
      { name: 'say', shell: 'echo ${text} [$TOOL_NAME] [$TOOL_RESULT] [$ITERATION_COUNT] >> told.txt' },
    ],
    files: hooks({ on_run_end: 'echo end [$TOOL_NAME] [$ERROR_MESSAGE] >> told.txt' }),
  })
  const event = { TOOL_NAME: 'theirs', TOOL_RESULT: 'result', ITERATION_COUNT: '7', ERROR_MESSAGE: 'failed' }
  const PATH = process.env.PATH ?? ''
  await run({ env: { PATH, ...event, DELTA_HOOK_IO_PATH: '/of/the/hook' } })
  expect(await workspace.read('told.txt')).toBe('hi [] [] []\nend [] []\n')
  await run({ env: { PATH, TOOL_NAME: 'mine' } })
  expect(await workspace.read('told.txt')).toContain('hi [mine] [] []\nend [mine] []\n')
})

test('on_error runs for each retry, and once for the end', async () => {
  await using server = await startScriptedServer([{ status: 500, message: 'Busy.' }])
  const { run, workspace } = await scene({
    baseUrl: server.baseUrl,
    agent: { llm: { model: 'any', max_attempts: 2 } },
    files: hooks({ on_error: 'echo called >> errors.txt' }),
  })
  const result = await run()
  expect(await eventsOfType(result, 'ERROR')).toMatchObject([{ recoverable: true }, { recoverable: false }])
  expect(await workspace.read('errors.txt')).toBe('called\ncalled\n')
})

test('on_error gets the first 32 KB of a long message with a NUL as a variable, and all of it in context.json', async () => {
  const { run, workspace } = await scene({
    files: hooks({
      on_error: 'printf %s "$ERROR_MESSAGE" > told.txt; cp "$DELTA_HOOK_IO_PATH/input/context.json" .',
    }),
  })
  const message = `no\0 ${'x'.repeat(200_000)}`
  const complete = () => Promise.reject(new Error(message))
  expect(await run({ model: { complete } })).toMatchObject({ status: 'FAILED' })
  expect(await workspace.read('told.txt')).toBe(`no\\0 ${'x'.repeat(32 * 1024 - 5)}`)
  expect(JSON.parse(await workspace.read('context.json')).error_message).toBe(message)
})

test('on_error gets the iteration in which the run failed', async () => {
  const context = 'sources: [{ type: file, path: "${CWD}/notes.md" }, { type: journal }]\n'
  const { run, workspace } = await scene(
    {
      turns: [calls('lose'), { content: 'Done.' }],
      tools: [{ name: 'lose', shell: 'rm notes.md' }],
      files: { ...hooks({ on_error: 'echo $ITERATION_COUNT > told.txt' }), 'context.yaml': context },
    },
    { 'notes.md': 'Remember.' },
  )
  const result = await run()
  expect(result).toMatchObject({ status: 'FAILED' })
  expect(await workspace.read('told.txt')).toBe('2\n')
  expect(await eventsOfType(result, 'ERROR')).toMatchObject([{ iteration: 2 }])
})

test('pre_llm_request may write the request as payload_override.dat or final_payload.json, which takes precedence; the record says when it changed', async () => {
  await using server = await startScriptedServer({
    choose: 'requests',
    turns: [{ content: 'Done.', times: 3 }],
  })
  const write = (word: string, file: string) =>
    `sed 's/"Go"/"Go ${word}"/' "$DELTA_HOOK_IO_PATH/input/proposed_payload.json" > "$DELTA_HOOK_IO_PATH/output/${file}"`
  const override = write('gently', 'payload_override.dat')
  for (const [script, said, rewritten_by] of [
    [override, 'Go gently', 'pre_llm_request'],
    [`${override}; ${write('fast', 'final_payload.json')}`, 'Go fast', 'pre_llm_request'],
    ['cd "$DELTA_HOOK_IO_PATH"; cp input/proposed_payload.json output/final_payload.json', 'Go', undefined],
  ] as const) {
    const { run } = await scene({ baseUrl: server.baseUrl, files: hooks({ pre_llm_request: script }) })
    const result = await run()
    expect(server.requests().at(-1)?.json?.messages.at(-1)).toEqual({ role: 'user', content: said })
    const [thought] = (await eventsOfType(result, 'THOUGHT')) as { llm_invocation_ref?: string }[]
    const record = await readFile(join(result.runDirectory, thought?.llm_invocation_ref ?? ''), 'utf8')
    expect(JSON.parse(record).rewritten_by).toBe(rewritten_by)
  }
})

test('a pre_llm_request that fails adds a message to the next request', async () => {
  await using server = await startScriptedServer(SAY_HI)
  const { run } = await scene({
    baseUrl: server.baseUrl,
    tools: [ECHO],
    files: hooks({ pre_llm_request: 'test $ITERATION_COUNT = 2' }),
  })
  await run()
  const content = 'pre_llm_request hook failed, proceeding with baseline context.'
  expect(server.requests()[1]?.json?.messages).toContainEqual({ role: 'system', content })
})

test('hooks that a run did not reach are journaled as SKIPPED: after a stop, a failure or a blocked call', async () => {
  const all = { pre_llm_request: 'true', post_llm_response: 'true', on_iteration_end: 'true' }
  const skipped = async (given: Record<string, string>, more: object = {}) => {
    const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files: hooks(given) })
    const audits = await eventsOfType(await run(more), 'HOOK_EXECUTION_AUDIT')
    return audits
      .filter((event) => Object(event).status === 'SKIPPED')
      .map((event) => `${Object(event).hook_name} ${Object(event).iteration}`)
  }
  const stop = control({ action: 'stop' })
  const rest = ['post_llm_response 1', 'on_iteration_end 1']
  expect(await skipped({ ...all, on_iteration_start: stop })).toEqual(['pre_llm_request 1', ...rest])
  expect(await skipped({ ...all, pre_llm_request: stop })).toEqual(rest)
  expect(await skipped({ ...all, post_tool_execution: stop })).toEqual(['on_iteration_end 1'])
  expect(await skipped({ ...all, on_iteration_end: stop })).toEqual([])
  expect(await skipped(all, { model: { complete: () => Promise.reject(new Error('No.')) } })).toEqual(rest)
  const blocked = { pre_tool_execution: 'exit 1', post_tool_execution: 'true' }
  expect(await skipped({ ...all, ...blocked })).toEqual(['post_tool_execution 1'])
})

const NOT_RUN = 'The call was not run, because the pre_tool_execution hook'

test.each([
  ['skips it', control({ action: 'skip', observation: 'Not on a Friday.' }), /^Not on a Friday\.$/],
  ['fails', 'echo broken guard >&2; exit 3', `${NOT_RUN} exited with 3: broken guard.`],
  [
    'removes its directory',
    'rm -rf "$DELTA_HOOK_IO_PATH"',
    `${NOT_RUN} removed its output/, in which it may have decided something.`,
  ],
  [
    'writes no JSON',
    output('control.json', 'not json'),
    /^The call .* wrote an output\/control\.json that is not JSON: .*[^.]\.$/,
  ],
  [
    'writes an unknown action',
    control({ action: 'halt' }),
    /^The call .* that has the action "halt"; possible here: .*skip.* or .*stop.*[^.]\.$/,
  ],
])('a call whose guard %s is not run, and the model reads why', async (_, guard, observation) => {
  const { run, workspace } = await scene({
    turns: [SAY_HI[0] ?? {}, { content: '{{last_observation}}' }],
    tools: [{ name: 'say', shell: 'touch ran; echo ${text}' }],
    files: hooks({ pre_tool_execution: guard }),
  })
  const result = await run()
  expect(result.answer).toEqual(
    typeof observation === 'string' ? observation : expect.stringMatching(observation),
  )
  expect(await workspace.has('ran')).toBe(false)
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([{ status: 'BLOCKED', exit_code: null }])
})

test('post_tool_execution runs after a command that ran, and not for a call that was rejected', async () => {
  const calls = [
    { name: 'say', arguments: { text: 'hi' } },
    { name: 'say', arguments: '{"text' },
    { name: 'no_such_tool', arguments: {} },
    { name: 'fail', arguments: {} },
  ]
  const { run } = await scene({
    turns: [{ tool_calls: calls }, { content: 'Done.' }],
    tools: [ECHO, { name: 'fail', shell: 'exit 3' }],
    files: hooks({ post_tool_execution: 'true' }),
  })
  const result = await run()
  const results = (await eventsOfType(result, 'ACTION_RESULT')).map((event) => Object(event))
  expect(results.map(({ status }) => status)).toEqual(['SUCCESS', 'ERROR', 'ERROR', 'FAILED'])
  const audits = await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')
  const ran = results.filter(({ status }) => status !== 'ERROR')
  expect(audits.map((audit) => Object(audit).action_id)).toEqual(ran.map(({ action_id }) => action_id))
})

test('a signal during on_run_end ends the hook, and the run stays COMPLETED', async () => {
  const controller = new AbortController()
  const { run, workspace } = await scene({
    turns: [{ content: 'Done.' }],
    files: hooks({ on_run_end: 'touch began; exec sleep 300' }),
  })
  const running = run({ signal: controller.signal })
  await waitForFile(`${workspace.path}/began`)
  controller.abort('SIGINT')
  expect(await running).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
})

const PAYLOAD = 'payload_override.dat'

test.each([
  ['pre_llm_request', 'final_payload.json', 'garbage', /is not JSON: Unexpected token/],
  ['pre_llm_request', PAYLOAD, '{}', /is not a request: it has no list "messages"/],
  ['pre_llm_request', 'final_payload.json', '{"messages":["Hi"]}', /is not a request: it has no list/],
  ['post_llm_response', PAYLOAD, 'garbage', /is not JSON: Unexpected token/],
  ['post_llm_response', PAYLOAD, '{"role":"user"}', /is not an assistant message: its "role" is not/],
  ['post_llm_response', PAYLOAD, '{"role":"assistant","content":5}', /is not an assistant message\. .* 5/],
])(
  '%s that writes an invalid %s (%s) has failed, and the original is used',
  async (name, file, text, problem) => {
    const { run } = await scene({
      turns: [{ content: 'Done.' }],
      files: hooks({ [name]: output(file, text) }),
    })
    const result = await run()
    expect(result.answer).toBe('Done.')
    const [audit] = await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')
    const reason = String(Object(audit).error_message)
    expect(reason).toMatch(new RegExp(`^${name} hook wrote an output/${file} that ${problem.source}`))
    expect(audit).toMatchObject({ status: 'FAILED' })
    const content =
      name === 'pre_llm_request'
        ? 'pre_llm_request hook failed, proceeding with baseline context.'
        : `The ${reason}; the original was used.`
    expect(await eventsOfType(result, 'SYSTEM_MESSAGE')).toMatchObject([{ level: 'WARN', content }])
  },
)

test('a post_llm_response hook that removes the calls leaves a plain answer', async () => {
  const instead = output(PAYLOAD, '{"role":"assistant","content":"Mine"}')
  const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files: hooks({ post_llm_response: instead }) })
  const call = { id: '1', type: 'function', function: { name: 'say', arguments: '{"text":"hi"}' } } as const
  const message = { role: 'assistant' as const, content: null, tool_calls: [call] }
  const complete = async () => ({ message, finishReason: 'tool_calls', raw: {} })
  const result = await run({ model: { complete } })
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'Mine' })
  expect(result).not.toHaveProperty('reason')
})

const edit = (script: string) =>
  `sed '${script}' "$DELTA_HOOK_IO_PATH/input/payload.dat" > "$DELTA_HOOK_IO_PATH/output/${PAYLOAD}"`

test.each([
  ['nothing', edit(''), true],
  ['the text', edit('s/Hm/Ah/'), false],
  ['the arguments of a call', edit('s/hi/ho/'), false],
  [
    'which calls there are',
    output(PAYLOAD, '{"role":"assistant","content":"Hm.","items":{"api":"messages","list":[]}}'),
    false,
  ],
])(
  'the items of a response go back to its provider if post_llm_response changes %s: %3$s',
  async (_, hook, goBack) => {
    const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files: hooks({ post_llm_response: hook }) })
    const items = { api: 'messages', list: [{ type: 'thinking', thinking: 'So.', signature: 's' }] }
    const call = { id: '1', type: 'function', function: { name: 'say', arguments: '{"text":"hi"}' } } as const
    const message = { role: 'assistant' as const, content: 'Hm.', tool_calls: [call], items }
    const asked: ChatRequest[] = []
    const complete = async (request: ChatRequest) => {
      asked.push(request)
      return asked.length === 1
        ? { message, raw: {} }
        : { message: { role: 'assistant' as const, content: 'Done.' }, raw: {} }
    }
    const result = await run({ model: { complete } })
    const [thought] = await eventsOfType(result, 'THOUGHT')
    expect(Object(Object(thought).message).items).toEqual(goBack ? items : undefined)
    const sent = asked[1]?.messages.find(({ role }) => role === 'assistant')
    expect(sent?.items).toEqual(goBack ? items : undefined)
  },
)

test('a call that post_llm_response writes with its arguments as an object is made', async () => {
  const tool_calls = [{ id: '1', function: { name: 'say', arguments: { text: 'hi' } } }]
  const write = output(PAYLOAD, JSON.stringify({ role: 'assistant', tool_calls }))
  const files = hooks({ post_llm_response: `test $ITERATION_COUNT = 2 || ${write}` })
  const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files })
  expect((await run()).answer).toBe('Said hi')
})

test('a hook that asks for an impossible action has failed, with a notice', async () => {
  const skip = `test $ITERATION_COUNT = 2 || ${control({ action: 'skip' })}`
  const notices: string[] = []
  const { run } = await scene({
    turns: SAY_HI,
    tools: [ECHO],
    files: hooks({
      on_iteration_start: skip,
      post_tool_execution: skip,
      on_run_end: control({ action: 'stop' }),
    }),
  })
  const result = await run({ onEvent: (event) => event.kind === 'notice' && notices.push(event.message) })
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'Said hi' })
  const wrote = (name: string) => `${name} hook wrote an output/control.json that has the action`
  const stop = 'possible here: {"action":"stop","reason":"…"}'
  expect(notices).toEqual([
    `${wrote('on_iteration_start')} "skip"; ${stop}`,
    `${wrote('post_tool_execution')} "skip"; ${stop}`,
    `${wrote('on_run_end')} "stop"; possible here: none`,
  ])
  const audits = await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')
  const failed = audits.filter((audit) => Object(audit).status === 'FAILED')
  expect(failed.map((audit) => Object(audit).error_message)).toEqual(notices)
})

test('on_error may stop a run before its request is tried again', async () => {
  await using server = await startScriptedServer([{ status: 503 }, { content: 'Done.' }])
  const stop = control({ action: 'stop', reason: 'not today' })
  const { run } = await scene({ baseUrl: server.baseUrl, files: hooks({ on_error: stop }) })
  expect(await run()).toMatchObject({ status: 'FAILED', reason: 'on_error hook: not today' })
  expect(server.requests()).toHaveLength(1)
})

test('a hook that puts a file in the place of its output/ has failed, and the run continues', async () => {
  const script = 'rm -rf "$DELTA_HOOK_IO_PATH/output"; echo > "$DELTA_HOOK_IO_PATH/output"'
  const names = NAMES.filter((name) => name !== 'pre_tool_execution') // which would block the call
  const files = hooks(Object.fromEntries(names.map((name) => [name, script])))
  const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files })
  const result = await run({ credentials: { apiKey: 'test-key-not-real' } }) // with a key there are files to redact
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'Said hi' })
  const audits = (await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')).map((audit) => Object(audit))
  expect(new Set(audits.map(({ hook_name }) => hook_name))).toEqual(new Set(names))
  for (const { hook_name, ...audit } of audits)
    expect(audit).toMatchObject({
      status: 'FAILED',
      error_message: `${hook_name} hook removed its output/, in which it may have decided something`,
    })
})

test('oversized output of a hook fails it, and neither the model nor the journal gets it', async () => {
  const fill = (file: string) => `head -c 5000000 /dev/zero | tr '\\0' a > $DELTA_HOOK_IO_PATH/output/${file}`
  const { run } = await scene({
    turns: [calls('work'), { content: '{{last_observation}}' }],
    tools: [{ name: 'work', exec: 'echo worked' }],
    files: hooks({
      on_iteration_start: fill('control.json'),
      post_tool_execution: fill(PAYLOAD),
      on_iteration_end: "head -c 900000 /dev/zero | tr '\\0' a >&2; exit 3",
    }),
  })
  const result = await run()
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'worked' })
  const audits = await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')
  expect(audits.slice(0, 3).map((audit) => Object(audit).error_message)).toEqual([
    expect.stringMatching(/control\.json that .*longer than 1048576 bytes, open /),
    expect.stringMatching(/override\.dat that .*longer than 4194304 bytes, open /),
    `on_iteration_end hook exited with 3: ${'a'.repeat(500)}…`,
  ])
})
