import { foreignErrors } from '@delta/testkit'
import { expect, test } from 'vitest'
import * as model from '../src/index.js'
import { isModelError, replayModel, retryDelayMs, scriptModel } from '../src/index.js'
import { openAiModel } from '../src/openai.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const wrong = (value: unknown) => value as never

const request = { messages: [{ role: 'user' as const, content: 'Hello?' }] }
const answered = { request, response: { role: 'assistant', content: 'Hello.' } }

test.each([
  ['openAiModel: what it is given', () => openAiModel(wrong('sk-key'))],
  ['openAiModel: the option apiKey', () => openAiModel(wrong({ apiKey: 5 }))],
  ['openAiModel: the option baseUrl', () => openAiModel(wrong({ baseUrl: new URL('http://localhost') }))],
  ['openAiModel: the option timeoutMs', () => openAiModel({ timeoutMs: Number.NaN })],
  ['scriptModel: the list of turns', () => scriptModel(wrong('script.yaml'))],
  ['replayModel: the list of records', () => replayModel(wrong(undefined))],
  ['replayModel: the list of records', () => replayModel(wrong({ request: {}, response: {} }))],
  ['replayModel: the request of record 1', () => replayModel([wrong(null)])],
  ['replayModel: the request of record 2', () => replayModel([answered, { request: 'hello', response: {} }])],
  ['retryDelayMs: the error', () => retryDelayMs(1, wrong(undefined))],
])('what cannot be used is named: %s', (what, call) => {
  expect(call).toThrow(`${what} is missing or invalid.\nPass `)
})

const models = {
  scriptModel: scriptModel([{ content: 'Hello.' }]),
  replayModel: replayModel([answered]),
  openAiModel: openAiModel({ baseUrl: 'http://127.0.0.1:9/v1' }),
}

test.each(Object.entries(models))(
  'what no model can be asked is named, by %s',
  async (_name, { complete }) => {
    const failures: [what: string, answer: Promise<unknown>][] = [
      ['complete: the request', complete(wrong(undefined))],
      ['complete: the request', complete(wrong({ messages: 'Hello?' }))],
      ['complete: the request', complete({ messages: [wrong(null)] })],
      ['complete: the argument options', complete(request, wrong(null))],
      ['complete: the option signal', complete(request, { signal: wrong({}) })],
      ['complete: the option onDelta', complete(request, { onDelta: wrong('print') })],
    ]
    for (const [what, answer] of failures) {
      await expect(answer).rejects.toMatchObject({
        code: 'ERR_MODEL_SETTINGS',
        message: expect.stringContaining(`${what} is missing or invalid.\nPass `),
      })
    }
  },
)

test('no function answers any value with an error that is not of this package', async () => {
  expect(await foreignErrors({ ...model, openAiModel }, { isOwn: isModelError })).toEqual([])
})
