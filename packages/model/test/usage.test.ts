import { expect, test } from 'vitest'
import { scriptModel } from '../src/index.js'
import { openAiModel } from '../src/openai.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const wrong = (value: unknown) => value as never

test.each([
  ['openAiModel: what it is given', () => openAiModel(wrong('sk-key'))],
  ['openAiModel: the option apiKey', () => openAiModel(wrong({ apiKey: 5 }))],
  ['openAiModel: the option baseUrl', () => openAiModel(wrong({ baseUrl: new URL('http://localhost') }))],
  ['openAiModel: the option timeoutMs', () => openAiModel({ timeoutMs: Number.NaN })],
  ['scriptModel: the list of turns', () => scriptModel(wrong('script.yaml'))],
])('what cannot be used is named: %s', (what, call) => {
  expect(call).toThrow(`${what} is missing, or not what it must be.\nPass `)
})
