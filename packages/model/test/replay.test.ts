import { expect, test } from 'vitest'
import { type ChatMessage, type ChatRequest, replayModel, scriptModel } from '../src/index.js'

const user: ChatMessage = { role: 'user', content: 'Count the lines of a.txt.' }
const turns = [{ tool_calls: [{ name: 'count', arguments: { file: 'a.txt' } }] }, { content: '2 lines.' }]

async function record() {
  const model = scriptModel(turns)
  const first: ChatRequest = { model: 'm', temperature: 0, messages: [user] }
  const one = await model.complete(first)
  const second: ChatRequest = {
    ...first,
    messages: [user, one.message, { role: 'tool', tool_call_id: 'turn-1-1', content: '2 a.txt' }],
  }
  const two = await model.complete(second)
  const records = [
    { request: first, response: one.raw },
    { request: JSON.stringify(second), response: two.raw },
  ]
  return { first, second, one, two, records }
}

test('recorded requests get their recorded answers, in any order, in any process', async () => {
  const { first, second, one, two, records } = await record()
  const heard: unknown[] = []
  const answer = await replayModel(records).complete(second, { onDelta: (delta) => heard.push(delta) })
  expect([answer.message, heard]).toEqual([two.message, [{ content: '2 lines.' }]])

  const model = replayModel(records)
  const { messages, ...rest } = { ...first, stream: true } // streaming and the order of keys do not count
  expect((await model.complete({ messages, ...rest })).message).toEqual(one.message)
  expect((await model.complete(second)).message).toEqual(two.message)
})

test('equal requests get their answers one after the other, the last one for good', async () => {
  const request: ChatRequest = { messages: [user] }
  const model = replayModel(
    ['one', 'two'].map((content) => ({ request, response: { role: 'assistant', content } })),
  )
  const said = []
  for (let count = 0; count < 3; count++) said.push((await model.complete(request)).message.content)
  expect(said).toEqual(['one', 'two', 'two'])
})

test('a request that differs fails with the first difference from the nearest recorded one', async () => {
  const { second, records } = await record()
  const changed = structuredClone(second)
  const observation = changed.messages[2]
  if (observation) observation.content = '3 a.txt'
  await expect(replayModel(records).complete(changed)).rejects.toMatchObject({
    code: 'ERR_MODEL_REPLAY_DIFFERS',
    retryable: false,
    message:
      'This request was not recorded. The nearest is request 2 of 2; the first difference is at messages[2].content:\n' +
      '  recorded: "2 a.txt"\n' +
      '  now:      "3 a.txt"\n' +
      'Replay with the recorded files, model and parameters, or record the run again.',
  })
})

test.each([
  [
    'a parameter that is missing',
    { temperature: undefined },
    'temperature:\n  recorded: 0\n  now:      (nothing)\n',
  ],
  ['a parameter', { temperature: 1 }, 'temperature:\n  recorded: 0\n  now:      1\n'],
  ['one more', { seed: 7 }, 'seed:\n  recorded: (nothing)\n  now:      7\n'],
  [
    'one more message',
    { messages: [user, user] },
    'messages[1]:\n  recorded: (nothing)\n  now:      {"role":"user",',
  ],
  [
    'the middle of a long text',
    { messages: [{ role: 'user', content: `${'x'.repeat(500)}!${'y'.repeat(500)}` }] },
    'messages[0].content:\n  recorded: "Count the lines of a.txt."\n  now:      "xxxx',
  ],
] as const)('%s is a difference', async (_name, change, expected) => {
  const { first, records } = await record()
  const answer = replayModel(records.slice(0, 1)).complete({
    ...first,
    ...structuredClone(change),
  } as ChatRequest)
  await expect(answer).rejects.toThrow(expected)
})

test('long texts are shown around the place where they part', async () => {
  const request = (text: string): ChatRequest => ({ messages: [{ role: 'user', content: text }] })
  const before = 'x'.repeat(300)
  const answer = replayModel([{ request: request(`${before}A${'y'.repeat(300)}`), response: {} }]).complete(
    request(`${before}B`),
  )
  const shown = `  recorded: …"${'x'.repeat(20)}A${'y'.repeat(59)}"…\n  now:      …"${'x'.repeat(20)}B"\n`
  await expect(answer).rejects.toThrow(shown)
})

test('an empty recording says so, and an aborted request is not answered', async () => {
  await expect(replayModel([]).complete({ messages: [user] })).rejects.toMatchObject({
    code: 'ERR_MODEL_SCRIPT_END',
    message: 'The recording is empty, so nothing can be replayed.',
  })
  const { first, records } = await record()
  const aborted = replayModel(records).complete(first, { signal: AbortSignal.abort() })
  await expect(aborted).rejects.toMatchObject({ code: 'ERR_MODEL_ABORTED' })
})

test('a recording is read piece by piece: each request when its turn comes, and each part of a long run a few times', async () => {
  const iterations = 200
  const messages = Array.from(
    { length: 2 * iterations },
    (_, index): ChatMessage => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `message ${index}`,
    }),
  )
  const read = { parts: 0, responses: 0 }
  const model = replayModel({
    length: iterations,
    parts: (index) => ({ parameters: -1, messages: Array.from({ length: 2 * index + 1 }, (_, at) => at) }),
    part: (number) => {
      read.parts++
      return number === -1 ? { model: 'm' } : structuredClone(messages[number])
    },
    response: (index) => {
      read.responses++
      return messages[2 * index + 1]
    },
  })
  expect(read).toEqual({ parts: 0, responses: 0 })
  for (let index = 0; index < iterations; index++) {
    const answer = await model.complete({ model: 'm', messages: messages.slice(0, 2 * index + 1) })
    expect(answer.message.content).toBe(`message ${2 * index + 1}`)
  }
  expect(read).toEqual({ parts: iterations + 2 * iterations - 1, responses: iterations })

  const other: ChatMessage = { role: 'user', content: 'another' }
  const changed = model.complete({ model: 'm', messages: [...messages.slice(0, 300), other] })
  await expect(changed).rejects.toThrow(
    'The nearest is request 151 of 200; the first difference is at messages[300]',
  )
  expect(read.parts).toBeLessThan(5 * iterations + 2 * messages.length)
})
