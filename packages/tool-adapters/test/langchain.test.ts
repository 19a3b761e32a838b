import { defineTool } from '@delta/executor'
import { waitForExit } from '@delta/testkit'
import { AIMessage, type BaseMessage, HumanMessage, type ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { expect, test } from 'vitest'
import { toLangChainTools } from '../src/langchain.js'
import {
  askingPolicy,
  BROKEN_CALL,
  CALLS,
  inputSent,
  MEDIA_CALLS,
  MEDIA_LINES,
  mediaTools,
  OBSERVATIONS,
  ODD_CALLS,
  ODD_OBSERVATIONS,
  observationsSent,
  PDF_URL,
  PNG,
  PNG_URL,
  setUp,
  tools,
  waitStarted,
} from './tools.js'

function named(made: ReturnType<typeof toLangChainTools>, name: string) {
  const found = made.find((tool) => tool.name === name)
  if (!found) throw new Error(`there is ${name}`)
  return found
}

async function invokeAll(made: ReturnType<typeof toLangChainTools>, answer: BaseMessage | undefined) {
  if (!AIMessage.isInstance(answer)) throw new Error('the model answered')
  const answers: ToolMessage[] = []
  for (const call of answer.tool_calls ?? []) {
    answers.push(await named(made, call.name).invoke({ ...call, type: 'tool_call' }))
  }
  return answers
}

test('LangChain shows the model a schema that it does not enforce, runs every call, and the model reads what each did', async () => {
  const { server, options } = await setUp([{ tool_calls: [...CALLS, ...ODD_CALLS] }, { content: 'Done.' }])
  const made = toLangChainTools(tools, options)
  const configuration = { baseURL: server.baseUrl }
  const model = new ChatOpenAI({ model: 'any', apiKey: 'none', configuration }).bindTools(made)
  const messages: BaseMessage[] = [new HumanMessage('Go')]
  messages.push(await model.invoke(messages))
  const answers = await invokeAll(made, messages.at(-1))
  expect((await model.invoke([...messages, ...answers])).text).toBe('Done.')
  expect(server.requests()[0]?.json?.tools).toMatchObject({
    0: { function: { name: 'print', parameters: { required: ['text'], additionalProperties: false } } },
  })
  expect(observationsSent(server)).toEqual(
    [...OBSERVATIONS, ...ODD_OBSERVATIONS].map((pattern) => expect.stringMatching(pattern)),
  )
  const isError = answers.map(({ status }) => status === 'error')
  expect(isError).toEqual([false, true, true, true, true, true, false, false])
  expect(await named(made, 'fail').invoke({})).toContain('oops') // text where no call is to be answered
})

test('the model reads a line where a picture or file stands; the artifact is what a message of the user shows it', async () => {
  const { server, options } = await setUp([
    { tool_calls: MEDIA_CALLS },
    { content: 'Done.' },
    { content: 'Done.' },
  ])
  const configuration = { baseURL: server.baseUrl }
  const common = { model: 'any', apiKey: 'none', configuration }
  const made = toLangChainTools(mediaTools, options)
  const messages: BaseMessage[] = [new HumanMessage('Go')]
  messages.push(await new ChatOpenAI(common).bindTools(made).invoke(messages))
  const answers = await invokeAll(made, messages.at(-1))
  messages.push(...answers)
  messages.push(new HumanMessage({ contentBlocks: answers.flatMap(({ artifact }) => artifact ?? []) }))

  await new ChatOpenAI(common).invoke(messages)
  expect(observationsSent(server)).toEqual(MEDIA_LINES)
  expect(server.requests()[1]?.json?.messages?.at(-1)?.content).toEqual([
    { type: 'image_url', image_url: { url: PNG_URL } },
    { type: 'file', file: { file_data: PDF_URL, filename: 'file' } },
  ])
  await new ChatOpenAI({ ...common, useResponsesApi: true }).invoke(messages)
  expect(inputSent(server).at(-1)?.content).toMatchObject([
    { type: 'input_image', image_url: PNG_URL },
    { type: 'input_file', file_data: PDF_URL, filename: 'file' },
  ])
})

test('an image of a result that is an error is the artifact of its message', async () => {
  const content = [{ type: 'image', data: PNG, mimeType: 'image/png' }]
  const printed = JSON.stringify({ content, isError: true })
  const torn = defineTool({ name: 'torn', command: ['printf', '%s', printed], output: 'mcp' })
  const { options } = await setUp()
  const call = { type: 'tool_call' as const, id: 'call_7', name: 'torn', args: {} }
  expect(await named(toLangChainTools([torn], options), 'torn').invoke(call)).toMatchObject({
    status: 'error',
    content: MEDIA_LINES[0],
    artifact: [{ type: 'image', mimeType: 'image/png', data: PNG }],
  })
})

test('without confirm, a call that the policy puts to a person is blocked; what confirm throws, as interrupt() of LangGraph does, leaves the tool', async () => {
  const { options } = await setUp()
  const policy = askingPolicy()
  const call = { type: 'tool_call' as const, id: 'call_7', name: 'wipe', args: {} }
  expect(await named(toLangChainTools(tools, { ...options, policy }), 'wipe').invoke(call)).toMatchObject({
    status: 'error',
    content: expect.stringContaining('BLOCKED: "wipe" needs a person\'s approval (destructive)'),
  })
  const interrupt = new Error('The graph waits here')
  const confirm = () => {
    throw interrupt
  }
  const asking = named(toLangChainTools(tools, { ...options, policy, confirm }), 'wipe')
  await expect(asking.invoke(call)).rejects.toBe(interrupt)
})

test('arguments that are no JSON reach the tool as they are, which says so', async () => {
  const { server, options } = await setUp([{ tool_calls: [BROKEN_CALL] }])
  const made = toLangChainTools(tools, options)
  const configuration = { baseURL: server.baseUrl }
  const { invalid_tool_calls: broken = [] } = await new ChatOpenAI({
    model: 'any',
    apiKey: 'none',
    configuration,
  }).invoke('Go')
  expect(broken).toHaveLength(1)
  expect(await named(made, 'print').invoke({ ...broken[0], type: 'tool_call' })).toMatchObject({
    status: 'error',
    content: expect.stringContaining('are not valid JSON'),
  })
})

test('what a program hangs on a tool it made is used', async () => {
  const { options } = await setUp()
  const print = named(toLangChainTools(tools, options), 'print')
  const ended: unknown[] = []
  print.callbacks = [{ handleToolEnd: (output: unknown) => void ended.push(output) }]
  await print.invoke({ text: 'seen' })
  expect(ended).toEqual(['seen'])
})

test('an abort ends the command that is running', async () => {
  const { directory, options } = await setUp()
  const stop = new AbortController()
  const running = named(toLangChainTools(tools, options), 'wait').invoke({}, { signal: stop.signal })
  const pid = await waitStarted(directory)
  stop.abort()
  await Promise.allSettled([running])
  await waitForExit(pid)
})
