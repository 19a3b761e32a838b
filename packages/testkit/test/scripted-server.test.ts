import { appendFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ScriptedTurn, type ServerScript, startScriptedServer } from '../src/index.js'

const user = { role: 'user', content: 'Go.' }
const thought = { role: 'assistant', content: 'Hm.' }

async function start(script: readonly ScriptedTurn[] | ServerScript) {
  const server = await startScriptedServer(script)
  onTestFinished(() => server.close())
  const ask = (messages: object[], more: object = {}, signal?: AbortSignal) =>
    fetch(`${server.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer key-1' },
      body: JSON.stringify({ model: 'm', messages, ...more }),
      ...(signal ? { signal } : {}),
    })
  return { server, ask }
}

const messageOf = async (response: Response) =>
  ((await response.json()) as { choices: [{ message: Record<string, unknown> }] }).choices[0].message

test('the turn follows from the conversation, so a request sent again gets the same answer', async () => {
  const { ask } = await start([{ content: 'one' }, { content: 'two' }])
  expect(await messageOf(await ask([user]))).toEqual({ role: 'assistant', content: 'one' })
  expect(await messageOf(await ask([user]))).toEqual({ role: 'assistant', content: 'one' })
  expect(await messageOf(await ask([user, thought]))).toEqual({ role: 'assistant', content: 'two' })
})

test('a client that goes away while it speaks is no request, and the server goes on', async () => {
  const { server, ask } = await start([{ content: 'one' }])
  const client = connect(Number(new URL(server.baseUrl).port), '127.0.0.1')
  await new Promise<void>((sent) => {
    client.write('POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"model', () =>
      sent(),
    )
  })
  client.resetAndDestroy()
  expect(await messageOf(await ask([user]))).toEqual({ role: 'assistant', content: 'one' })
  expect(await messageOf(await ask([user]))).toEqual({ role: 'assistant', content: 'one' })
  expect(server.requests()).toHaveLength(2)
})

test('the turn is also found in a history that was cut at the front', async () => {
  const { ask } = await start([
    { tool_calls: [{ name: 'a' }] },
    { tool_calls: [{ name: 'b' }] },
    { content: 'three' },
  ])
  const second = await messageOf(await ask([user, thought]))
  const observation = { role: 'tool', tool_call_id: 'call_2_1', content: 'ok' }
  expect((await messageOf(await ask([user, second, observation]))).content).toBe('three')
})

test('with choose: requests, the turn follows from the number of requests', async () => {
  const { ask } = await start({ choose: 'requests', turns: [{ content: 'one' }, { content: 'two' }] })
  expect((await messageOf(await ask([user]))).content).toBe('one')
  expect((await messageOf(await ask([user]))).content).toBe('two')
})

test('several conversations on one server are told apart by a text in them', async () => {
  const { ask } = await start({
    turns: [{ content: 'parent' }],
    conversations: [{ when: 'child task', turns: [{ content: 'child' }] }],
  })
  expect((await messageOf(await ask([{ role: 'user', content: 'the child task' }]))).content).toBe('child')
  expect((await messageOf(await ask([user]))).content).toBe('parent')
})

test('calls get ids, objects become JSON text, strings stay as malformed as they are', async () => {
  const { ask } = await start([
    {
      tool_calls: [
        { name: 'a', arguments: { text: 'x' } },
        { name: 'b', arguments: '{"broken' },
        { id: 'own', name: 'c' },
      ],
    },
  ])
  expect((await messageOf(await ask([user]))).tool_calls).toEqual([
    { id: 'call_1_1', type: 'function', function: { name: 'a', arguments: '{"text":"x"}' } },
    { id: 'call_1_2', type: 'function', function: { name: 'b', arguments: '{"broken' } },
    { id: 'own', type: 'function', function: { name: 'c', arguments: '{}' } },
  ])
})

test('an answer may quote the last observation', async () => {
  const { ask } = await start([
    { tool_calls: [{ name: 'echo' }] },
    {
      content: 'It says {{last_observation}}.',
      tool_calls: [{ name: 'b', arguments: { t: '{{last_observation}}' } }],
    },
  ])
  const first = await messageOf(await ask([user]))
  const observation = { role: 'tool', tool_call_id: 'call_1_1', content: '"$&"\n\n' }
  expect(await messageOf(await ask([user, first, observation]))).toMatchObject({
    content: 'It says "$&".',
    tool_calls: [{ function: { arguments: '{"t":"\\"$&\\""}' } }],
  })
})

test('a script says the same over HTTP as the script model of @delta/model does', async () => {
  const { ask } = await start([
    { tool_calls: [{ name: 'echo' }] },
    { content: '\\{{last_observation}} is <{{last_observation}}>.' },
  ])
  const first = await messageOf(await ask([user]))
  const observation = { role: 'tool', tool_call_id: 'call_1_1', content: ' a\nb \n\n' }
  expect(await messageOf(await ask([user, first, observation]))).toMatchObject({
    content: '{{last_observation}} is < a\nb >.',
  })
})

test('a streamed answer is the same answer in pieces', async () => {
  const { ask } = await start([
    {
      content: 'two words',
      message: { reasoning_content: 'a b' },
      tool_calls: [{ name: 'n', arguments: '{"a": 1}' }],
    },
  ])
  const response = await ask([user], { stream: true, stream_options: { include_usage: true } })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const events = (await response.text()).split('\n\n')
  expect(events.slice(-2)).toEqual(['data: [DONE]', ''])

  const chunks = events.slice(0, -2).map((event) => JSON.parse(event.slice('data: '.length)))
  const deltas = chunks.flatMap((chunk) => chunk.choices).map((choice) => choice.delta)
  expect(deltas.map((delta) => delta.content ?? '').join('')).toBe('two words')
  expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).toBe('a b')
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? [])
  expect(calls[0]).toMatchObject({ index: 0, id: 'call_1_1', function: { name: 'n' } })
  expect(calls.map((call) => call.function.arguments).join('')).toBe('{"a": 1}')
  expect(chunks.at(-2).choices[0].finish_reason).toBe('tool_calls')
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } })
})

test('faults come before the answer, each once', async () => {
  const { ask } = await start([
    { before: [{ status: 429, retryAfter: '7' }, { status: 500 }, { fault: 'reset' }], content: 'at last' },
  ])
  const limited = await ask([user])
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7'])
  expect(await limited.json()).toEqual({
    error: { message: 'Scripted failure 429.', type: 'invalid_request_error', param: null, code: null },
  })
  expect((await ask([user])).status).toBe(500)
  await expect(ask([user])).rejects.toThrow('fetch failed')
  expect((await messageOf(await ask([user]))).content).toBe('at last')
})

test('bodies can be empty or a web page', async () => {
  const { ask } = await start({ choose: 'requests', turns: [{ fault: 'empty' }, { fault: 'html' }] })
  expect(await (await ask([user])).text()).toBe('')
  expect(await (await ask([user])).text()).toMatch(/^<!DOCTYPE html>/)
})

describe.each([
  ['/chat/completions', { messages: [user] }, { completion_tokens_details: { reasoning_tokens: 25 } }],
  ['/responses', { input: 'Go.' }, { output_tokens_details: { reasoning_tokens: 25 } }],
  ['/messages', { messages: [user], max_tokens: 9 }, { output_tokens_details: { thinking_tokens: 25 } }],
])('on %s', (path, asked, usage) => {
  const turn = { content: 'Done.', message: { reasoning_content: 'Hm. '.repeat(24) } }

  test.each([true, false])('a fault cuts what the API would answer, with stream: %s', async (stream) => {
    const { server } = await start([
      { ...turn, before: [{ fault: 'truncated' }, { fault: 'cut' }] },
      { fault: 'truncated' },
    ])
    const body = JSON.stringify({ model: 'm', stream, ...asked })
    const ask = () => fetch(server.baseUrl + path, { method: 'POST', body })
    const [truncated, cut, whole] = [await ask(), await ask(), await ask()]
    const [half, text] = [await truncated.text(), await whole.text()]
    await expect(cut.text()).rejects.toThrow('terminated')
    expect(half.length).toBeGreaterThan(50)
    expect(text.startsWith(half) && text.length > half.length).toBe(true)
    for (const { headers } of [truncated, cut])
      expect(headers.get('content-type')).toBe(whole.headers.get('content-type'))
  })

  test('usage says how many tokens were reasoning', async () => {
    const { server } = await start([turn])
    const body = JSON.stringify({ model: 'm', ...asked })
    const answer = await fetch(server.baseUrl + path, { method: 'POST', body })
    expect(await answer.json()).toMatchObject({ usage })
  })
})

test('a held answer comes when it is released, not before', async () => {
  const { server, ask } = await start([{ content: 'slow', hold: 'gate' }])
  const response = ask([user])
  const [request] = await server.waitForRequests(1)
  expect(request?.sentWhole).toBe(undefined)
  server.release('gate')
  expect((await messageOf(await response)).content).toBe('slow')
  expect((await server.waitForEnd(1)).sentWhole).toBe(true)
})

test('an answer can stop midway, and the log tells that the client went away', async () => {
  const { server, ask } = await start([{ content: 'one two three', holdMidway: 'never' }])
  const client = new AbortController()
  const response = await ask([user], { stream: true }, client.signal)
  const reader = response.body?.getReader()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('"role":"assistant"')
  client.abort()
  expect((await server.waitForEnd(1)).sentWhole).toBe(false)
})

test('a history that a strict API refuses gets 400 in the shape of OpenAI, and the log says why', async () => {
  const { server, ask } = await start([{ content: 'never' }])
  const response = await ask([user, { role: 'tool', tool_call_id: 'x', content: 'y' }])
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({
    error: {
      message:
        "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls', once.",
      type: 'invalid_request_error',
      param: 'messages.[1].role',
      code: null,
    },
  })
  expect(server.requests()[0]).toMatchObject({
    outcome: 'refused',
    problem: expect.stringContaining("role 'tool'"),
  })
})

test('a script that has run out says so', async () => {
  const { server, ask } = await start([{ content: 'only', times: 2 }])
  const response = await ask([user, thought, thought])
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('The script has 2 turns, and this request asks for turn 3.')
  expect(server.requests()[0]?.outcome).toBe('exhausted')
})

test('the wrong path, a body without a model and stream_options are refused as servers do', async () => {
  const { server, ask } = await start({
    refuseStreamOptions: true,
    turns: [{ content: 'hello' }],
  })
  expect((await ask([user])).status).toBe(200)
  expect((await ask([user], { stream: true, stream_options: {} })).status).toBe(400)
  expect((await fetch(`${server.baseUrl}/models`)).status).toBe(404)
  expect((await fetch(`${server.baseUrl}/chat/completions`, { method: 'POST', body: '{}' })).status).toBe(400)
})

test('every request is logged as it came, with its headers', async () => {
  const { server, ask } = await start([{ content: 'hello' }])
  await (await ask([user], { seed: 7 })).text()
  await server.waitForEnd(1)
  expect(server.requests()).toEqual([
    expect.objectContaining({
      number: 1,
      method: 'POST',
      path: '/v1/chat/completions',
      headers: expect.objectContaining({ authorization: 'Bearer key-1' }),
      body: '{"model":"m","messages":[{"role":"user","content":"Go."}],"seed":7}',
      json: { model: 'm', messages: [user], seed: 7 },
      outcome: 'answer',
      turn: 0,
      sentWhole: true,
    }),
  ])
})

test('a request that is just being logged is not there yet', async () => {
  const { server } = await start([{ content: 'hello' }])
  await appendFile(server.logPath, '{"type":"request","number":1,"bo')
  expect(server.requests()).toEqual([])
  await appendFile(server.logPath, 'dy":"{}"}\n')
  expect(server.requests()).toEqual([expect.objectContaining({ number: 1, json: {} })])
})

test('close frees the port, whatever is still held back there, and leaves the others; what was asked can still be read', async () => {
  const other = await start([{ content: 'goes on' }])
  const server = await startScriptedServer([{ content: 'hello', hold: 'for ever' }])
  const port = Number(new URL(server.baseUrl).port)
  await fetch(server.baseUrl)
  const body = JSON.stringify({ model: 'm', messages: [user] })
  const held = fetch(`${server.baseUrl}/chat/completions`, { method: 'POST', body }).catch(() => 'cut off')
  await server.waitForRequests(2)
  await server.close()
  expect(await held).toBe('cut off')
  expect(server.requests()).toMatchObject([{ sentWhole: true }, { outcome: 'answer', sentWhole: undefined }])
  expect(await messageOf(await other.ask([user]))).toMatchObject({ content: 'goes on' })

  const next = createServer()
  await new Promise<void>((resolve) => next.listen(port, '127.0.0.1', resolve))
  next.close()
})

test.each([
  [
    '/responses',
    'input',
    ({ output }: Spoken) => output,
    (id: string) => [
      { type: 'function_call_output', call_id: id, output: [{ type: 'input_text', text: id }] },
    ],
    ['reasoning', 'message', 'function_call', 'function_call'],
    { status: 'incomplete', output: [{ content: [{ text: 'It says call_1_2.' }] }] },
  ],
  [
    '/messages',
    'messages',
    ({ role, content }: Spoken) => [{ role, content }],
    (id: string) => [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: id }] }],
    ['thinking', 'text', 'tool_use', 'tool_use'],
    { stop_reason: 'max_tokens', content: [{ text: 'It says call_1_2.' }] },
  ],
])(
  'the same script answers on %s, and a call without its result is refused there, too',
  async (path, list, answerIn, resultOf, types, last) => {
    const { server } = await start([
      {
        content: 'A look.',
        message: { reasoning_content: 'Hm.' },
        tool_calls: [{ name: 'a' }, { name: 'b' }],
      },
      { content: 'It says {{last_observation}}.', finish_reason: 'length' },
    ])
    const ask = async (messages: unknown[]) => {
      const body = JSON.stringify({ model: 'm', [list]: messages })
      return (await fetch(server.baseUrl + path, { method: 'POST', body })).json() as Promise<Spoken>
    }
    const said = await ask([user])
    expect((said.output ?? said.content)?.map(({ type }) => type)).toEqual(types)
    const before = [user, ...(answerIn(said) ?? [])]
    const one = [...before, ...resultOf('call_1_1')]
    expect(await ask([...one, ...resultOf('call_1_2')])).toMatchObject(last)
    expect((await ask(one)).error?.message).toContain('call_1_2')
  },
)

interface Spoken {
  readonly output?: { type: string }[]
  readonly role?: string
  readonly content?: { type: string }[]
  readonly error?: { message: string }
}
