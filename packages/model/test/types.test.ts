import { expect, test } from 'vitest'
import { ModelError, replayModel, scriptModel } from '../src/index.js'

// `tsc` reads this file, too: what it refuses here, it would refuse to every program with strict settings.

const maybe = <Value>(value: Value): Value | undefined => value
const parameters = { type: 'object', properties: {}, required: ['file'] }
const request = {
  model: 'any',
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'More' },
  ],
  tools: [{ type: 'function', function: { name: 'read', parameters } }],
} as const

test('a request that is written out as a constant is taken as it is', async () => {
  const model = scriptModel([{ content: 'a' }, { content: 'b' }])
  expect((await model.complete(request)).message.content).toBe('b')
  const replay = replayModel([{ request, response: { role: 'assistant', content: 'c' } }])
  expect((await replay.complete(request)).message.content).toBe('c')
})

test('an option may be undefined', async () => {
  const turn = { content: maybe('a'), tool_calls: undefined }
  const { message } = await scriptModel([turn]).complete({
    messages: [{ role: 'user', content: 'Hi' }],
    tools: undefined,
    model: undefined,
    stream: undefined,
  })
  expect(message.content).toBe('a')
  expect(new ModelError('ERR_MODEL_SERVER', 'Busy.', { retryable: maybe(true) }).retryable).toBe(true)
})
