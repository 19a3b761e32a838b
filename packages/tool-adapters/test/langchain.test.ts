import { waitForExit } from '@delta/testkit'
import { type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { expect, test } from 'vitest'
import { toLangChainTools } from '../src/langchain.js'
import { CALLS, OBSERVATIONS, observationsSent, setUp, tools, waitStarted } from './tools.js'

function named(made: ReturnType<typeof toLangChainTools>, name: string) {
  const found = made.find((tool) => tool.name === name)
  if (!found) throw new Error(`there is ${name}`)
  return found
}

test('LangChain runs every call of a response, and the model reads what each did', async () => {
  const { server, options } = await setUp([{ tool_calls: CALLS }, { content: 'Done.' }])
  const made = toLangChainTools(tools, options)
  const configuration = { baseURL: server.baseUrl }
  const model = new ChatOpenAI({ model: 'any', apiKey: 'none', configuration }).bindTools(made)

  const messages: BaseMessage[] = [new HumanMessage('Go')]
  const answer = await model.invoke(messages)
  messages.push(answer)
  for (const call of answer.tool_calls ?? []) {
    messages.push(await named(made, call.name).invoke({ ...call, type: 'tool_call' }))
  }
  expect((await model.invoke(messages)).text).toBe('Done.')
  expect(observationsSent(server)).toEqual(OBSERVATIONS.map((pattern) => expect.stringMatching(pattern)))
})

test('arguments that do not fit the schema are refused by LangChain itself', async () => {
  const { options } = await setUp()
  await expect(named(toLangChainTools(tools, options), 'print').invoke({ text: 7 })).rejects.toThrow(
    'did not match expected schema',
  )
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
