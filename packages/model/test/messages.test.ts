import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AssistantMessage, ChatMessage, ChatRequest } from '../src/index.js'
import { fromWire, toWire } from '../src/internal.js'
import { messagesFormat } from '../src/messages-format.js'
import { reasoningOf } from '../src/response.js'

const user: ChatMessage = { role: 'user', content: 'Go.' }
const blobs = (sha256: string) => Buffer.from(`bytes of ${sha256}`)
const base64 = (sha256: string) => Buffer.from(blobs(sha256)).toString('base64')

function wire(messages: ChatMessage[], more: Partial<ChatRequest> = {}) {
  const { body, leftOut } = toWire('messages', { model: 'm', max_tokens: 9, ...more, messages }, blobs)
  return { ...(body as unknown as MessageCreateParams), leftOut }
}

const call = (id: string, text = '{"a":1}') => ({
  id,
  type: 'function' as const,
  function: { name: 'look', arguments: text },
})
const use = (id: string, input: unknown = { a: 1 }) => ({ type: 'tool_use', id, name: 'look', input })
const text = (words: string) => ({ type: 'text', text: words })
const answer = (content: unknown, stop_reason: string | null = 'end_turn') => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content,
  stop_reason,
  usage: { input_tokens: 3, output_tokens: 2 },
})

describe('a request', () => {
  test('begins with its system messages as blocks; a later one is said by the user', () => {
    const { system, messages } = wire([
      { role: 'system', content: 'One.' },
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Two.' },
          { type: 'text', text: 'Three.' },
        ],
      },
      user,
      { role: 'assistant', content: 'Hm.' },
      { role: 'system', content: 'Hurry.' },
      user,
    ])
    expect(system).toEqual([text('One.'), text('Two.'), text('Three.')])
    expect(messages).toEqual([
      { role: 'user', content: [text('Go.')] },
      { role: 'assistant', content: [text('Hm.')] },
      { role: 'user', content: [text('<system>Hurry.</system>'), text('Go.')] },
    ])
  })

  test('has all results of an answer in one user message, in the order of the calls, before what the user says', () => {
    const image = { type: 'image', blob: 'b', media_type: 'image/png', bytes: 1 } as const
    const { messages } = wire([
      user,
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b:0', '{"x')] },
      { role: 'tool', tool_call_id: 'a', content: '', is_error: true },
      { role: 'tool', tool_call_id: 'b:0', content: [{ type: 'text', text: 'See' }, image] },
      user,
    ])
    expect(messages.slice(1)).toEqual([
      { role: 'assistant', content: [use('a'), use('b_0', { malformed_arguments: '{"x' })] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', is_error: true },
          {
            type: 'tool_result',
            tool_use_id: 'b_0',
            content: [
              text('See'),
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64('b') } },
            ],
          },
          text('Go.'),
        ],
      },
    ])
  })

  test('does without what other APIs answered, and says so', () => {
    const items = { api: 'responses', list: [{}, {}] }
    const { messages, leftOut } = wire([
      user,
      { role: 'assistant', content: 'Hi.', items, iteration: 4 },
      user,
      { role: 'assistant', content: 'Ho.', reasoning_content: 'Well.', iteration: 5 },
      user,
    ])
    expect(leftOut).toEqual([
      { iteration: 4, api: 'responses', items: 2 },
      { iteration: 5, api: 'chat', items: 1 },
    ])
    expect(JSON.stringify(messages)).not.toContain('Well')
  })

  test('has calls that a hook changed in place of the blocks, so that each has its result', () => {
    const items = { api: 'messages', list: [use('toolu_1'), use('toolu_2')] }
    const { messages, leftOut } = wire([
      user,
      { role: 'assistant', content: null, tool_calls: [call('1')], items },
      { role: 'tool', tool_call_id: '1', content: 'one' },
    ])
    expect(messages[1]?.content).toEqual([use('1')])
    expect(messages[2]?.content).toMatchObject([{ tool_use_id: '1' }])
    expect(leftOut).toEqual([{ api: 'messages', items: 2 }])
  })

  test.each([{ content: null }, { content: ' \n' }, { content: '', items: { api: 'messages', list: [] } }])(
    'has words in the place of an empty answer: %j',
    (fields) => {
      const { messages } = wire([user, { role: 'assistant', ...fields }, user])
      expect(messages[1]).toEqual({ role: 'assistant', content: [text('(no text)')] })
    },
  )

  test('has words behind thinking at the end of an answer, which the API refuses there', () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's' }
    const list = [thinking, text('Half'), thinking, text('\n')]
    const { messages } = wire([
      user,
      { role: 'assistant', content: 'Half', items: { api: 'messages', list } },
    ])
    expect(messages[1]?.content).toEqual([thinking, text('Half'), thinking, text('(no text)')])
  })

  test('has cache marks on parts that can carry one', () => {
    const { system, messages } = wire([
      {
        role: 'system',
        content: [
          { type: 'text', text: 'A', prompt_cache: '1h' },
          { type: 'text', text: 'B' },
          { type: 'text', text: '' },
        ],
        prompt_cache: true,
      },
      { ...user, prompt_cache: true },
      { role: 'assistant', content: 'Hi.', tool_calls: [call('a')], prompt_cache: true },
      { role: 'tool', tool_call_id: 'a', content: 'ok', prompt_cache: '1h' },
    ])
    const short = { cache_control: { type: 'ephemeral' } }
    const long = { cache_control: { type: 'ephemeral', ttl: '1h' } }
    expect(system).toEqual([
      { ...text('A'), ...long },
      { ...text('B'), ...short },
    ])
    expect(messages).toEqual([
      { role: 'user', content: [{ ...text('Go.'), ...short }] },
      { role: 'assistant', content: [text('Hi.'), use('a')] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok', ...long }] },
    ])
  })

  test('has PDF and text as documents, and words in the place of what the API cannot read', () => {
    const file = (media_type: string, name?: string) =>
      ({ type: 'file', blob: 'f', media_type, bytes: 5, ...(name && { name }) }) as const
    const { messages } = wire([
      {
        role: 'user',
        content: [
          file('application/pdf', 'a.pdf'),
          file('text/csv'),
          file('audio/wav', 'a.wav'),
          { type: 'image', blob: 'i', media_type: 'image/png', bytes: 5, width: 1280, height: 8001 },
        ],
      },
    ])
    const pdf = { type: 'base64', media_type: 'application/pdf', data: base64('f') }
    expect(messages[0]?.content).toEqual([
      { type: 'document', source: pdf, title: 'a.pdf' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'bytes of f' } },
      text('[a.wav: audio/wav, 5 bytes, which this API cannot read]'),
      text('[image: image/png, 5 bytes, which this API cannot read]'),
    ])
  })
})

describe('an answer', () => {
  test('has its text, its calls, and its blocks as they came', () => {
    const content = [
      { type: 'thinking', thinking: 'Let me see.', signature: 'sig' },
      { type: 'redacted_thinking', data: Buffer.from('secret').toString('base64') },
      text('One. '),
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { q: 1 } },
      { ...text('Two.'), citations: null },
      use('toolu_1', { b: 'x', a: [1.5, null] }),
      use('toolu_2', {}),
    ]
    const raw = answer(content, 'tool_use')
    const { message, ...rest } = fromWire('messages', raw)
    expect(message).toEqual({
      role: 'assistant',
      content: 'One. Two.',
      tool_calls: [call('toolu_1', '{"b":"x","a":[1.5,null]}'), call('toolu_2', '{}')],
      items: { api: 'messages', list: content },
    })
    expect(rest).toEqual({ raw, finishReason: 'tool_calls', usage: raw.usage, model: 'claude-x' })
    expect(reasoningOf(message)).toBe('Let me see.\n\n[redacted, 6 bytes]')
  })

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['pause_turn', 'pause_turn'],
    ['new_word', 'new_word'],
    [null, undefined],
  ])('that ended with %j has the reason %j', (stop, reason) => {
    expect(fromWire('messages', answer([text('x')], stop)).finishReason).toBe(reason)
  })

  test.each([
    [{ type: 'error', error: {} }, 'it has no content'],
    ['text', 'it has no content'],
    [answer([null]), 'a block of it has no type'],
    [answer([{ type: 'text', text: 1 }]), 'a text is no string'],
    [answer([{ type: 'tool_use', id: 'a', input: {} }]), 'a call has no id or no name'],
    [answer([text('x')], 'tool_use'), 'its stop_reason is "tool_use"'],
  ])('that cannot be used is an error: %j', (raw, message) => {
    const expected = {
      code: 'ERR_MODEL_RESPONSE',
      retryable: true,
      message: expect.stringContaining(message),
    }
    expect(() => fromWire('messages', raw)).toThrow(expect.objectContaining(expected))
  })

  test('keeps a call that its end cut, so that the call is refused and can be sent back', () => {
    const { message } = fromWire('messages', answer([use('toolu_1', '{"a":"x')], 'max_tokens'))
    expect(message.tool_calls).toEqual([call('toolu_1', '{"a":"x')])
    const { messages } = wire([user, message, { role: 'tool', tool_call_id: 'toolu_1', content: 'no' }])
    expect(messages[1]?.content).toEqual([use('toolu_1', { malformed_arguments: '{"a":"x' })])
  })

  test('has no lone surrogates; in a call they are spelled out', () => {
    const { message } = fromWire('messages', answer([text('a\ud800'), use('t', { a: '\ud800' })], 'tool_use'))
    expect(message.content).toBe('a\ufffd')
    expect(message.tool_calls?.[0]?.function.arguments).toBe('{"a":"\\ud800"}')
    expect(JSON.stringify(message.items).isWellFormed()).toBe(true)
    expect(JSON.stringify(message.items)).not.toContain('ud800')
  })
})

describe('a stream', () => {
  const reader = (...events: object[]) => {
    const stream = messagesFormat.startStream()
    const heard = events.map((event) => stream.add({ ...event }))
    return { heard, end: () => stream.end(false) }
  }
  const begin = {
    type: 'message_start',
    message: { ...answer([], null), usage: { input_tokens: 9, output_tokens: 1 } },
  }
  const block = (index: number, content_block: object, ...deltas: object[]) => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
  const end = [
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: null, output_tokens: 5 },
    },
    { type: 'message_stop' },
  ]

  test('adds up blocks piece by piece, and lays the usage at its end over that at its beginning', () => {
    const { heard, end: whole } = reader(
      begin,
      { type: 'ping' },
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'Let ' },
        { type: 'thinking_delta', thinking: 'me.' },
        { type: 'signature_delta', signature: 'sig' },
      ),
      ...block(1, { type: 'redacted_thinking', data: 'AAAA' }),
      ...block(
        2,
        text(''),
        { type: 'text_delta', text: 'a' },
        { type: 'citations_delta', citation: { c: 1 } },
        { type: 'text_delta', text: 'b' },
      ),
      ...block(
        3,
        use('t', {}),
        { type: 'input_json_delta', partial_json: '' },
        { type: 'input_json_delta', partial_json: '{"a"' },
        { type: 'input_json_delta', partial_json: ':1}' },
      ),
      ...block(4, use('u', {})),
      { type: 'new_event' },
      ...end,
    )
    expect(whole()).toEqual({
      ...answer([
        { type: 'thinking', thinking: 'Let me.', signature: 'sig' },
        { type: 'redacted_thinking', data: 'AAAA' },
        { ...text('ab'), citations: [{ c: 1 }] },
        use('t', { a: 1 }),
        use('u', {}),
      ]),
      usage: { input_tokens: 9, output_tokens: 5 },
    })
    expect(heard.map(({ delta }) => delta.content ?? '').join('')).toBe('ab')
    expect(heard.map(({ delta }) => delta.reasoning ?? '').join('')).toBe('Let me.\n\n[redacted, 3 bytes]')
    expect(heard.filter(({ kind }) => kind === 'alive')).toHaveLength(3) // the ping, the empty piece, the new event
  })

  test('with a piece of an unknown type is an error that says what helps', () => {
    expect(() => reader(begin, ...block(0, text(''), { type: 'new_delta', x: 1 }))).toThrow(
      'a piece is of an unknown type, "new_delta". Write stream: false',
    )
    expect(() => reader(begin, { type: 'content_block_delta', index: 3, delta: {} })).toThrow(
      'belongs to no block (index 3)',
    )
  })

  test('whose call is broken JSON keeps it as it was written, so that the call is refused and the model told', () => {
    const cut = block(0, use('t', {}), { type: 'input_json_delta', partial_json: '{"a":"x' })
    const { message } = messagesFormat.read(reader(begin, ...cut, ...end).end())
    expect(message.tool_calls).toEqual([call('t', '{"a":"x')])
    expect(message.items?.list).toEqual([use('t', { malformed_arguments: '{"a":"x' })])
  })
})

test('every string of every block comes back in the next request, in its place', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1 }).filter((said) => said.trim() !== '')
  const any = fc.string({ unit: 'grapheme' })
  const json = fc.jsonValue({ maxDepth: 2 })
  const block = fc.oneof(
    fc.record({ type: fc.constant('thinking'), thinking: any, signature: any }),
    fc.record({ type: fc.constant('redacted_thinking'), data: any }),
    fc.record({ type: fc.constant('text'), text: word }),
    fc.record({ type: fc.constant('future_block'), payload: json }),
    fc.record({
      type: fc.constant('tool_use'),
      id: fc.uuid(),
      name: fc.constant('look'),
      input: fc.dictionary(any, json),
    }),
  )
  const round = fc.record({
    content: fc.array(block, { maxLength: 6 }),
    said: fc.constantFrom(undefined, 'user', 'system', 'image', 'foreign') as fc.Arbitrary<
      string | undefined
    >,
    observation: any,
    words: word,
  })
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 6 }), (rounds) => {
      const messages: ChatMessage[] = [{ role: 'system', content: 'S' }, user]
      const expected: unknown[] = []
      for (const [number, { content, said, observation, words }] of rounds.entries()) {
        const raw = answer(content, content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn')
        const { message } = fromWire('messages', JSON.parse(JSON.stringify(raw)))
        // a run has its own ids
        const calls = message.tool_calls?.map((each, index) => ({ ...each, id: `${number}-${index}` }))
        const own: AssistantMessage = { ...message, ...(calls && { tool_calls: calls }) }
        const answered: AssistantMessage =
          said === 'foreign' ? { ...own, items: { api: 'responses', list: [{ id: 'rs' }] } } : own
        messages.push(answered)
        expected.push(...(said === 'foreign' ? [] : content))
        for (const { id } of calls ?? [])
          messages.push({ role: 'tool', tool_call_id: id, content: observation })
        if (said === 'system') messages.push({ role: 'system', content: words })
        else if (said === 'image')
          messages.push({
            role: 'user',
            content: [{ type: 'image', blob: 'b', media_type: 'image/png', bytes: 1 }],
          })
        else messages.push({ role: 'user', content: words })
      }
      const { messages: turns } = wire(messages)
      const sent = turns.flatMap(({ role, content }) => (role === 'assistant' ? (content as object[]) : []))
      let at = 0
      for (const block of expected) {
        at =
          sent.findIndex((each, index) => index >= at && JSON.stringify(each) === JSON.stringify(block)) + 1
        expect(at, JSON.stringify(block)).toBeGreaterThan(0)
      }
      expect(turns.every(({ role }, index) => role === (index % 2 === 0 ? 'user' : 'assistant'))).toBe(true)
      const ids = turns.flatMap(
        ({ content }) => content as { type: string; id?: string; tool_use_id?: string }[],
      )
      expect(ids.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))).toEqual(
        ids.flatMap(({ type, tool_use_id }) => (type === 'tool_result' ? [tool_use_id] : [])),
      )
      expect(JSON.stringify(turns)).not.toMatch(/"type":"text","text":"\s*"/)
    }),
  )
})

test.each<[api: 'chat' | 'responses' | 'messages']>([['chat'], ['responses'], ['messages']])(
  'whatever a hook puts in the place of items, a request of %s has the text and the calls',
  (api) => {
    const answer: AssistantMessage = { role: 'assistant', content: 'Hi.', tool_calls: [call('1')] }
    const plain = toWire(api, { messages: [user, answer] })
    for (const items of [
      'text',
      7,
      null,
      [],
      {},
      { api },
      { api, list: 'text' },
      { api, list: ['text', null] },
    ]) {
      const message = { ...answer, items } as unknown as AssistantMessage
      expect(toWire(api, { messages: [user, message] }).body).toEqual(plain.body)
    }
  },
)
