import { startScriptedServer, waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import { eventsOfType, hooks, scene } from './run.js'

const ECHO = { name: 'say', exec: 'echo ${text}' }
const SAY_HI = [
  { content: 'I speak.', tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] },
  { content: 'Said {{last_observation}}' },
]

test('all eight hooks run, each at its moment, in the workspace', async () => {
  const names = [
    'on_iteration_start',
    'pre_llm_request',
    'post_llm_response',
    'pre_tool_execution',
    'post_tool_execution',
    'on_iteration_end',
    'on_run_end',
  ]
  const { run, workspace } = await scene({
    turns: SAY_HI,
    tools: [ECHO],
    files: hooks(
      Object.fromEntries(
        names.map((name) => [name, `echo ${name} $ITERATION_COUNT $TOOL_NAME >> hooks.txt`]),
      ),
    ),
  })
  await run()
  expect(
    (await workspace.read('hooks.txt'))
      .trimEnd()
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual([
    ...['on_iteration_start 1', 'pre_llm_request 1', 'post_llm_response 1'],
    ...['pre_tool_execution 1 say', 'post_tool_execution 1 say', 'on_iteration_end 1'],
    ...['on_iteration_start 2', 'pre_llm_request 2', 'post_llm_response 2', 'on_iteration_end 2'],
    'on_run_end 2',
  ])
})

test('an agent that a hook starts is not told of the event of that hook; variables of the user go on', async () => {
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

test('on_error runs once for each failed request to the model', async () => {
  await using server = await startScriptedServer([{ status: 400 }])
  const { run, workspace } = await scene({
    baseUrl: server.baseUrl,
    files: hooks({ on_error: 'test -n "$ERROR_MESSAGE" && echo called >> errors.txt' }),
  })
  const result = await run({ credentials: { apiKey: 'test-key-not-real', baseUrl: server.baseUrl } })
  expect(result.status).toBe('FAILED')
  expect(await workspace.read('errors.txt')).toBe('called\n')
})

test('on_error runs for each retry, and once for the end', async () => {
  await using server = await startScriptedServer([{ status: 500, message: 'Busy.' }])
  const { run, workspace } = await scene({
    baseUrl: server.baseUrl,
    agent: { llm: { model: 'any', max_attempts: 2 } },
    files: hooks({ on_error: 'echo called >> errors.txt' }),
  })
  const result = await run({ credentials: { apiKey: 'test-key-not-real', baseUrl: server.baseUrl } })
  expect(await eventsOfType(result, 'ERROR')).toMatchObject([{ recoverable: true }, { recoverable: false }])
  expect(await workspace.read('errors.txt')).toBe('called\ncalled\n')
})

test('on_error is told of a long message with a NUL in it, by its first 32 KB and in context.json by all of it', async () => {
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

test('on_error is told in which cycle the run broke', async () => {
  const { run, workspace } = await scene(
    {
      turns: [{ tool_calls: [{ name: 'lose', arguments: {} }] }, { content: 'Done.' }],
      tools: [{ name: 'lose', shell: 'rm notes.md' }],
      files: {
        ...hooks({ on_error: 'echo $ITERATION_COUNT > told.txt' }),
        'context.yaml': 'sources: [{ type: file, path: "${CWD}/notes.md" }, { type: journal }]\n',
      },
    },
    { 'notes.md': 'Remember.' },
  )
  const result = await run()
  expect(result).toMatchObject({ status: 'FAILED' })
  expect(await workspace.read('told.txt')).toBe('2\n')
  expect(await eventsOfType(result, 'ERROR')).toMatchObject([{ iteration: 2 }])
})

test('pre_llm_request may rewrite the request that is sent', async () => {
  await using server = await startScriptedServer([{ content: 'Done.' }])
  const rewrite = `sed 's/"Go"/"Go gently"/' "$DELTA_HOOK_IO_PATH/input/proposed_payload.json" > "$DELTA_HOOK_IO_PATH/output/final_payload.json"`
  const { run } = await scene({ baseUrl: server.baseUrl, files: hooks({ pre_llm_request: rewrite }) })
  await run({ credentials: { apiKey: 'test-key-not-real', baseUrl: server.baseUrl } })
  expect(server.requests()[0]?.json?.messages.at(-1)).toEqual({ role: 'user', content: 'Go gently' })
})

test('pre_llm_request may write the request as payload_override.dat, too; final_payload.json counts first', async () => {
  await using server = await startScriptedServer({
    choose: 'requests',
    turns: [{ content: 'Done.', times: 2 }],
  })
  const write = (word: string, file: string) =>
    `sed 's/"Go"/"Go ${word}"/' "$DELTA_HOOK_IO_PATH/input/proposed_payload.json" > "$DELTA_HOOK_IO_PATH/output/${file}"`
  const override = write('gently', 'payload_override.dat')
  for (const [script, said] of [
    [override, 'Go gently'],
    [`${override}; ${write('fast', 'final_payload.json')}`, 'Go fast'],
  ] as const) {
    const { run } = await scene({ baseUrl: server.baseUrl, files: hooks({ pre_llm_request: script }) })
    await run({ credentials: { apiKey: 'test-key-not-real', baseUrl: server.baseUrl } })
    expect(server.requests().at(-1)?.json?.messages.at(-1)).toEqual({ role: 'user', content: said })
  }
})

test('a payload_override.dat of pre_llm_request that is no request is refused by its name', async () => {
  const write = 'echo "{}" > "$DELTA_HOOK_IO_PATH/output/payload_override.dat"'
  const { run } = await scene({ turns: [{ content: 'Done.' }], files: hooks({ pre_llm_request: write }) })
  expect(await eventsOfType(await run(), 'HOOK_EXECUTION_AUDIT')).toMatchObject([
    {
      error_message:
        'pre_llm_request hook wrote an output/payload_override.dat that is not a request: it has no list "messages" of messages',
    },
  ])
})

test('a pre_llm_request that fails is a message to the agent, which its next request holds', async () => {
  await using server = await startScriptedServer(SAY_HI)
  const { run } = await scene({
    baseUrl: server.baseUrl,
    tools: [ECHO],
    files: hooks({ pre_llm_request: 'test $ITERATION_COUNT = 2' }),
  })
  await run({ credentials: { apiKey: 'test-key-not-real', baseUrl: server.baseUrl } })
  const content = 'pre_llm_request hook failed, proceeding with baseline context.'
  expect(server.requests()[1]?.json?.messages).toContainEqual({ role: 'system', content })
})

test('hooks that a run did not come to are journaled as SKIPPED: after a stop, a failure or a blocked call', async () => {
  const all = { pre_llm_request: 'true', post_llm_response: 'true', on_iteration_end: 'true' }
  const write = (control: string) => `echo '${control}' > "$DELTA_HOOK_IO_PATH/output/control.json"`
  const skipped = async (given: Record<string, string>, more: object = {}) => {
    const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files: hooks(given) })
    const audits = await eventsOfType(await run(more), 'HOOK_EXECUTION_AUDIT')
    return audits
      .filter((event) => Object(event).status === 'SKIPPED')
      .map((event) => `${Object(event).hook_name} ${Object(event).iteration}`)
  }
  const stop = write('{"action":"stop"}')
  const rest = ['post_llm_response 1', 'on_iteration_end 1']
  expect(await skipped({ ...all, on_iteration_start: stop })).toEqual(['pre_llm_request 1', ...rest])
  expect(await skipped({ ...all, pre_llm_request: stop })).toEqual(rest)
  expect(await skipped({ ...all, post_tool_execution: stop })).toEqual(['on_iteration_end 1'])
  expect(await skipped({ ...all, on_iteration_end: stop })).toEqual([])
  expect(await skipped(all, { model: { complete: () => Promise.reject(new Error('No.')) } })).toEqual(rest)
  expect(await skipped(all, { maxIterations: 1 })).toEqual([])
  const blocked = { pre_tool_execution: 'exit 1', post_tool_execution: 'true' }
  expect(await skipped({ ...all, ...blocked })).toEqual(['post_tool_execution 1'])
  expect(await skipped(all)).toEqual([])
})

test('pre_tool_execution may refuse a call with words for the model, and the command is not run', async () => {
  const skip = `echo '{"action":"skip","observation":"Not on a Friday."}' > "$DELTA_HOOK_IO_PATH/output/control.json"`
  const { run, workspace } = await scene({
    turns: SAY_HI,
    tools: [{ name: 'say', shell: 'touch ran; echo ${text}' }],
    files: hooks({ pre_tool_execution: skip }),
  })
  const result = await run()
  expect(result.answer).toBe('Said Not on a Friday.')
  expect(await workspace.has('ran')).toBe(false)
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([{ status: 'BLOCKED', exit_code: null }])
})

test('a pre_tool_execution hook that fails blocks the call: a guard that crashes does not open the door', async () => {
  const { run, workspace } = await scene({
    turns: SAY_HI,
    tools: [{ name: 'say', shell: 'touch ran; echo ${text}' }],
    files: hooks({ pre_tool_execution: 'echo broken guard >&2; exit 3' }),
  })
  const result = await run()
  expect(await workspace.has('ran')).toBe(false)
  expect(result.answer).toBe(
    'Said The call was not run, because the pre_tool_execution hook exited with 3: broken guard.',
  )
})

test('a pre_tool_execution hook that removes its own directory has failed, and the call is blocked', async () => {
  const { run, workspace } = await scene({
    turns: SAY_HI,
    tools: [{ name: 'say', shell: 'touch ran; echo ${text}' }],
    files: hooks({ pre_tool_execution: 'rm -rf "$DELTA_HOOK_IO_PATH"' }),
  })
  const result = await run()
  expect(await workspace.has('ran')).toBe(false)
  expect(result.answer).toBe(
    'Said The call was not run, because the pre_tool_execution hook removed its output/, in which it may have decided something.',
  )
})

test('post_tool_execution runs after a command that ran, and not for a call that was refused', async () => {
  const { run } = await scene({
    turns: [
      {
        tool_calls: [
          { name: 'say', arguments: { text: 'hi' } },
          { name: 'say', arguments: '{"text' },
          { name: 'no_such_tool', arguments: {} },
          { name: 'fail', arguments: {} },
        ],
      },
      { content: 'Done.' },
    ],
    tools: [ECHO, { name: 'fail', shell: 'exit 3' }],
    files: hooks({ post_tool_execution: 'true' }),
  })
  const result = await run()
  const status = (await eventsOfType(result, 'ACTION_RESULT')).map((event) => Object(event).status)
  expect(status).toEqual(['SUCCESS', 'ERROR', 'ERROR', 'FAILED'])
  const audits = await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')
  const ran = (await eventsOfType(result, 'ACTION_RESULT')).filter((event) => Object(event).execution_ref)
  expect(audits.map((audit) => Object(audit).action_id)).toEqual(ran.map((event) => Object(event).action_id))
  expect(audits).toHaveLength(2)
})

test('any other failing hook is journaled and the run goes on', async () => {
  const { run } = await scene({
    turns: SAY_HI,
    tools: [ECHO],
    files: hooks({ pre_llm_request: 'exit 1', on_iteration_end: 'exit 1' }),
  })
  const result = await run()
  expect(result.status).toBe('COMPLETED')
  expect(await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')).toMatchObject(
    Array(4).fill({ status: 'FAILED' }),
  )
})

test('post_tool_execution may change what the model reads; the result in the journal stays', async () => {
  const override = `tr a-z A-Z < "$DELTA_HOOK_IO_PATH/input/payload.dat" > "$DELTA_HOOK_IO_PATH/output/payload_override.dat"`
  const { run } = await scene({
    turns: SAY_HI,
    tools: [ECHO],
    files: hooks({ post_tool_execution: override }),
  })
  const result = await run()
  expect(result.answer).toBe('Said HI')
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([{ observation_content: 'hi\n' }])
})

test('a hook that stops the run ends it as FAILED with its reason', async () => {
  const stop = `echo '{"action":"stop","reason":"budget spent"}' > "$DELTA_HOOK_IO_PATH/output/control.json"`
  const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files: hooks({ on_iteration_start: stop }) })
  expect(await run()).toMatchObject({ status: 'FAILED', reason: 'on_iteration_start hook: budget spent' })
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

test.each([
  ['pre_llm_request', 'final_payload.json', 'garbage', /is not JSON: Unexpected token/],
  ['pre_llm_request', 'final_payload.json', '{}', /is not a request: it has no list "messages"/],
  [
    'pre_llm_request',
    'final_payload.json',
    '{"messages":["Hi"]}',
    /is not a request: it has no list "messages" of messages/,
  ],
  ['post_llm_response', 'payload_override.dat', 'garbage', /is not JSON: Unexpected token/],
  [
    'post_llm_response',
    'payload_override.dat',
    '{"role":"user"}',
    /is not an assistant message: its "role" is not "assistant"/,
  ],
  [
    'post_llm_response',
    'payload_override.dat',
    '{"role":"assistant","content":5}',
    /is not an assistant message\. .* its content is neither a text nor a list of parts\. It says: 5/,
  ],
  [
    'post_llm_response',
    'payload_override.dat',
    '{"role":"assistant","tool_calls":"none"}',
    /is not an assistant message\. .* its tool_calls are not a list of calls\. It says: "none"/,
  ],
  [
    'post_llm_response',
    'payload_override.dat',
    '{"role":"assistant","tool_calls":[{"id":"1"}]}',
    /is not an assistant message\. .* a call has no "function" with its name and arguments\. It says: \{"id":"1"\}/,
  ],
])(
  '%s that writes a %s of no use (%s) has failed, and the original is used',
  async (name, file, text, problem) => {
    const write = `echo '${text}' > "$DELTA_HOOK_IO_PATH/output/${file}"`
    const { run } = await scene({ turns: [{ content: 'Done.' }], files: hooks({ [name]: write }) })
    const result = await run()
    expect(result.answer).toBe('Done.')
    const [audit] = await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')
    const reason = String(Object(audit).error_message)
    expect(reason).toMatch(new RegExp(`^${name} hook wrote an output/${file} that ${problem.source}`))
    expect(audit).toMatchObject({ status: 'FAILED' })
    const told =
      name === 'pre_llm_request'
        ? 'pre_llm_request hook failed, proceeding with baseline context.'
        : `The ${reason}; the original was used.`
    expect(await eventsOfType(result, 'SYSTEM_MESSAGE')).toMatchObject([{ level: 'WARN', content: told }])
  },
)

test.each([
  [
    'not json',
    /^Said The call was not run, because the pre_tool_execution hook wrote an output\/control\.json that is not JSON: .*[^.]\.$/,
  ],
  [
    '{"action":"halt"}',
    /^Said The call was not run, because the pre_tool_execution hook wrote an output\/control\.json that has the action "halt"; possible here: .*[^.]\.$/,
  ],
])('a control.json of %s blocks the call, and the reason is one sentence', async (text, answer) => {
  const write = `echo '${text}' > "$DELTA_HOOK_IO_PATH/output/control.json"`
  const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files: hooks({ pre_tool_execution: write }) })
  const result = await run()
  expect(result.answer).toMatch(answer)
  expect(await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')).toMatchObject([
    { status: 'FAILED', error_message: expect.stringContaining('control.json') },
  ])
})

test('a post_llm_response hook that takes the calls away leaves a plain answer, of which nothing is doubted', async () => {
  const instead = `echo '{"role":"assistant","content":"Mine"}' > "$DELTA_HOOK_IO_PATH/output/payload_override.dat"`
  const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files: hooks({ post_llm_response: instead }) })
  const call = { id: '1', type: 'function', function: { name: 'say', arguments: '{"text":"hi"}' } } as const
  const result = await run({
    model: {
      complete: async () => ({
        message: { role: 'assistant', content: null, tool_calls: [call] },
        finishReason: 'tool_calls',
        raw: {},
      }),
    },
  })
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'Mine' })
  expect(result).not.toHaveProperty('reason')
})

test('a call that post_llm_response writes with its arguments as an object is made', async () => {
  const message = {
    role: 'assistant',
    tool_calls: [{ id: '1', function: { name: 'say', arguments: { text: 'hi' } } }],
  }
  const once = `test $ITERATION_COUNT = 2 || echo '${JSON.stringify(message)}' > "$DELTA_HOOK_IO_PATH/output/payload_override.dat"`
  const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files: hooks({ post_llm_response: once }) })
  expect((await run()).answer).toBe('Said hi')
})

test.each([
  ['post_tool_execution', 'skip', 'possible here: {"action":"stop","reason":"…"}'],
  ['on_iteration_start', 'skip', 'possible here: {"action":"stop","reason":"…"}'],
  ['on_run_end', 'stop', 'possible here: none'],
])(
  '%s that asks for what it cannot do (%s) has failed, and the person is told',
  async (name, action, why) => {
    const write = `test $ITERATION_COUNT = 2 -a ${name} != on_run_end || echo '{"action":"${action}"}' > "$DELTA_HOOK_IO_PATH/output/control.json"`
    const notices: string[] = []
    const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files: hooks({ [name]: write }) })
    const result = await run({ onEvent: (event) => event.kind === 'notice' && notices.push(event.message) })
    expect(result).toMatchObject({ status: 'COMPLETED', answer: 'Said hi' })
    const reason = `${name} hook wrote an output/control.json that has the action "${action}"; ${why}`
    expect(notices).toEqual([reason])
    expect((await eventsOfType(result, 'HOOK_EXECUTION_AUDIT'))[0]).toMatchObject({
      status: 'FAILED',
      error_message: reason,
    })
  },
)

test('on_error may stop a run whose request would be tried again', async () => {
  await using server = await startScriptedServer([{ status: 503 }, { content: 'Done.' }])
  const stop = `echo '{"action":"stop","reason":"not today"}' > "$DELTA_HOOK_IO_PATH/output/control.json"`
  const { run } = await scene({ baseUrl: server.baseUrl, files: hooks({ on_error: stop }) })
  const result = await run({ credentials: { apiKey: 'test-key-not-real', baseUrl: server.baseUrl } })
  expect(result).toMatchObject({ status: 'FAILED', reason: 'on_error hook: not today' })
  expect(server.requests()).toHaveLength(1)
})

test.each([
  'on_iteration_start',
  'pre_llm_request',
  'post_llm_response',
  'post_tool_execution',
  'on_run_end',
])('a %s hook that puts a file in the place of its output/ has failed, and the run goes on', async (name) => {
  const script = 'rm -rf "$DELTA_HOOK_IO_PATH/output"; echo > "$DELTA_HOOK_IO_PATH/output"'
  const { run } = await scene({ turns: SAY_HI, tools: [ECHO], files: hooks({ [name]: script }) })
  // with a key there are files to redact
  const result = await run({ credentials: { apiKey: 'test-key-not-real' } })
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'Said hi' })
  const audits = await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')
  const failed = audits.map((audit) => Object(audit))
  expect(failed.length).toBeGreaterThan(0)
  for (const audit of failed)
    expect(audit).toMatchObject({
      hook_name: name,
      status: 'FAILED',
      error_message: `${name} hook removed its output/, in which it may have decided something`,
    })
})

test('what a hook writes or says without measure fails it, and neither the model nor the journal gets it', async () => {
  const fill = (file: string) => `head -c 5000000 /dev/zero | tr '\\0' a > $DELTA_HOOK_IO_PATH/output/${file}`
  const { run } = await scene({
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: '{{last_observation}}' }],
    tools: [{ name: 'work', exec: 'echo worked' }],
    files: hooks({
      on_iteration_start: fill('control.json'),
      post_tool_execution: fill('payload_override.dat'),
      on_iteration_end: "head -c 900000 /dev/zero | tr '\\0' a >&2; exit 3",
    }),
  })
  const result = await run()
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'worked' })
  const [start, post, end] = await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')
  expect(start).toMatchObject({
    error_message: expect.stringMatching(/control\.json that .*longer than 1048576 bytes, open /),
  })
  expect(post).toMatchObject({
    error_message: expect.stringMatching(/override\.dat that .*longer than 4194304 bytes, open /),
  })
  expect(end).toMatchObject({ error_message: `on_iteration_end hook exited with 3: ${'a'.repeat(500)}…` })
})
