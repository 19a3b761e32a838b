import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { waitForExit } from '@delta/testkit'
import { generateText, stepCountIs, streamText } from 'ai'
import { expect, test } from 'vitest'
import { toAiSdkTools } from '../src/ai-sdk.js'
import { CALLS, OBSERVATIONS, observationsSent, setUp, tools, waitStarted } from './tools.js'

const modelOf = (baseURL: string) => createOpenAICompatible({ name: 'scripted', baseURL })('any')

test('the AI SDK runs every call of a response, and the model reads what each did', async () => {
  const { server, options } = await setUp([{ tool_calls: CALLS }, { content: 'Done.' }])
  const { text } = await generateText({
    model: modelOf(server.baseUrl),
    tools: toAiSdkTools(tools, options),
    prompt: 'Go',
    stopWhen: stepCountIs(3),
  })
  expect(text).toBe('Done.')
  expect(observationsSent(server)).toEqual(OBSERVATIONS.map((pattern) => expect.stringMatching(pattern)))
})

test('the same when the answers are streamed', async () => {
  const { server, options } = await setUp([{ tool_calls: CALLS }, { content: 'Done.' }])
  const { text } = streamText({
    model: modelOf(server.baseUrl),
    tools: toAiSdkTools(tools, options),
    prompt: 'Go',
    stopWhen: stepCountIs(3),
  })
  expect(await text).toBe('Done.')
  expect(observationsSent(server)).toEqual(OBSERVATIONS.map((pattern) => expect.stringMatching(pattern)))
})

test('an abort ends the command that is running', async () => {
  const { server, directory, options } = await setUp([
    { tool_calls: [{ name: 'wait', arguments: {} }] },
    { content: 'No.' },
  ])
  const stop = new AbortController()
  const running = generateText({
    model: modelOf(server.baseUrl),
    tools: toAiSdkTools(tools, options),
    prompt: 'Go',
    stopWhen: stepCountIs(3),
    abortSignal: stop.signal,
  })
  const pid = await waitStarted(directory)
  stop.abort()
  await expect(running).rejects.toThrow()
  await waitForExit(pid)
})
