import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { waitForExit } from '@delta/testkit'
import * as ai from 'ai'
import { generateText, type ModelMessage, stepCountIs, streamText, type ToolApprovalResponse } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { expect, onTestFinished, test, vi } from 'vitest'
import { toAiSdkTools } from '../src/ai-sdk.js'
import { isAdapterError } from '../src/index.js'
import {
  askingPolicy,
  CALLS,
  LOOK_AND_WIPE,
  MEDIA_CALLS,
  MEDIA_LINES,
  mediaTools,
  OBSERVATIONS,
  observationsSent,
  PDF,
  PNG,
  setUp,
  tools,
  waitStarted,
  wipe,
} from './tools.js'

const modelOf = (baseURL: string) => createOpenAICompatible({ name: 'scripted', baseURL })('any')

test('the AI SDK runs every call of a streamed response; a failed, refused or blocked one is a tool-error with its result, and the model reads what each did', async () => {
  const turns = [{ tool_calls: [...CALLS, { name: 'wipe', arguments: {} }] }, { content: 'Done.' }]
  const { server, options } = await setUp(turns)
  const policy = { ...askingPolicy(), onConfirmation: 'deny' as const }
  const { steps, text } = streamText({
    model: modelOf(server.baseUrl),
    tools: { ...toAiSdkTools(tools, options), ...toAiSdkTools([wipe], { ...options, policy }) },
    prompt: 'Go',
    stopWhen: stepCountIs(3),
  })
  expect(await text).toBe('Done.')
  const errors = (await steps)[0]?.content.filter((part) => part.type === 'tool-error') ?? []
  expect(errors.map(({ error }) => isAdapterError(error) && error.result?.status).sort()).toEqual([
    'BLOCKED',
    'ERROR',
    'FAILED',
    'TIMEOUT',
  ])
  expect(observationsSent(server)).toEqual(
    [...OBSERVATIONS, /^BLOCKED: /].map((pattern) => expect.stringMatching(pattern)),
  )
})

test.each([true, false])(
  'a call that the policy puts to a person is approved in the AI SDK: %s',
  async (approved) => {
    const { server, options } = await setUp([{ tool_calls: LOOK_AND_WIPE }, { content: 'Done.' }])
    const policy = askingPolicy()
    const common = { model: modelOf(server.baseUrl), tools: toAiSdkTools(tools, { ...options, policy }) }
    const messages: ModelMessage[] = [{ role: 'user', content: 'Go' }]
    const asked = await generateText({ ...common, messages, stopWhen: stepCountIs(3) })
    const requests = asked.content.filter((part) => part.type === 'tool-approval-request')
    expect(requests.map(({ toolCall }) => toolCall.toolName)).toEqual(['wipe'])
    expect(server.requests()).toHaveLength(1)

    messages.push(...asked.response.messages)
    const content = requests.map(({ approvalId }): ToolApprovalResponse => {
      return { type: 'tool-approval-response', approvalId, approved }
    })
    messages.push({ role: 'tool', content })
    const { text } = await generateText({ ...common, messages, stopWhen: stepCountIs(3) })
    expect(text).toBe('Done.')
    const answer = approved ? /^wiped\n$/ : /execution denied/
    expect(observationsSent(server)).toContainEqual(expect.stringMatching(answer))
  },
)

test('with confirm, the program is asked in place of the AI SDK', async () => {
  const { server, options } = await setUp([{ tool_calls: LOOK_AND_WIPE }, { content: 'Done.' }])
  const { text } = await generateText({
    model: modelOf(server.baseUrl),
    tools: toAiSdkTools(tools, { ...options, policy: askingPolicy(), confirm: () => true }),
    prompt: 'Go',
    stopWhen: stepCountIs(3),
  })
  expect(text).toBe('Done.')
  expect(observationsSent(server)).toContain('wiped\n')
})

/** Calls each of `mediaTools`, and shows what the AI SDK hands to a provider: one of Chat Completions is sent no parts. */
function promptedModel() {
  const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 }
  const common = { usage: { inputTokens: tokens, outputTokens: tokens }, warnings: [] }
  const calls = MEDIA_CALLS.map(({ name }) => {
    return { type: 'tool-call' as const, toolCallId: name, toolName: name, input: '{}' }
  })
  const content = [{ type: 'text' as const, text: 'Done.' }]
  return new MockLanguageModelV3({
    doGenerate: [
      { ...common, content: calls, finishReason: { unified: 'tool-calls', raw: undefined } },
      { ...common, content, finishReason: { unified: 'stop', raw: undefined } },
    ],
  })
}

test('a picture and a file reach the model as parts of a result', async () => {
  const { options } = await setUp()
  const model = promptedModel()
  const warned: unknown[] = []
  const note = ({ warnings }: { warnings: { type: string }[] }) =>
    void warned.push(...warnings.map(({ type }) => type))
  vi.stubGlobal('AI_SDK_LOG_WARNINGS', note)
  onTestFinished(() => void vi.unstubAllGlobals())
  await generateText({
    model,
    tools: toAiSdkTools(mediaTools, options),
    prompt: 'Go',
    stopWhen: stepCountIs(3),
  })
  expect(warned).not.toContain('deprecated')
  const type = 'isStepCount' in ai ? 'file-data' : 'image-data' // 7 translates for a model of the version before
  const results = model.doGenerateCalls[1]?.prompt.at(-1)?.content
  expect(Object(results).map(({ output }: { output: unknown }) => output)).toMatchObject([
    {
      type: 'content',
      value: [{ text: MEDIA_LINES[0] }, { type, data: PNG, mediaType: 'image/png' }],
    },
    {
      type: 'content',
      value: [{ text: MEDIA_LINES[1] }, { type: 'file-data', data: PDF, mediaType: 'application/pdf' }],
    },
  ])
})

test('without media, a line stands in the place of a picture or file', async () => {
  const { server, options } = await setUp([{ tool_calls: MEDIA_CALLS }, { content: 'Done.' }])
  await generateText({
    model: modelOf(server.baseUrl),
    tools: toAiSdkTools(mediaTools, { ...options, media: false }),
    prompt: 'Go',
    stopWhen: stepCountIs(3),
  })
  expect(observationsSent(server)).toEqual(MEDIA_LINES)
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
