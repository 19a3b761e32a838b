import { waitForExit } from '@delta/testkit'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'
import { expect, test } from 'vitest'
import { toOpenAIAgentsTools } from '../src/openai-agents.js'
import {
  BROKEN_CALL,
  CALLS,
  OBSERVATIONS,
  ODD_CALLS,
  ODD_OBSERVATIONS,
  observationsSent,
  setUp,
  tools,
  UNKNOWN_CALL,
  waitStarted,
} from './tools.js'

function runner(baseURL: string): Runner {
  const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL, useResponses: false })
  return new Runner({ modelProvider, tracingDisabled: true })
}

const agent = (made: ReturnType<typeof toOpenAIAgentsTools>) =>
  new Agent({ name: 'Tester', model: 'any', tools: made })

test('the Agents SDK runs every call of a response, and the model reads what each did', async () => {
  const { server, options } = await setUp([{ tool_calls: CALLS }, { content: 'Done.' }])
  const result = await runner(server.baseUrl).run(agent(toOpenAIAgentsTools(tools, options)), 'Go')
  expect(result.finalOutput).toBe('Done.')
  expect(observationsSent(server)).toEqual(OBSERVATIONS.map((pattern) => expect.stringMatching(pattern)))
})

test('the model reads why its arguments were refused, and that its tool does not exist', async () => {
  const calls = [...ODD_CALLS, BROKEN_CALL, UNKNOWN_CALL]
  const { server, options } = await setUp([{ tool_calls: calls }, { content: 'Done.' }])
  const made = agent(toOpenAIAgentsTools(tools, options))
  const toolNotFoundBehavior = 'return_error_to_model' as const
  const result = await runner(server.baseUrl).run(made, 'Go', { toolNotFoundBehavior })
  expect(result.finalOutput).toBe('Done.')
  expect(observationsSent(server)).toEqual([
    ...ODD_OBSERVATIONS.map((pattern) => expect.stringMatching(pattern)),
    expect.stringContaining('JSON'),
    expect.stringContaining('not found'),
  ])
})

test('an abort ends the command that is running', async () => {
  const { server, directory, options } = await setUp([
    { tool_calls: [{ name: 'wait', arguments: {} }] },
    { content: 'No.' },
  ])
  const stop = new AbortController()
  const running = runner(server.baseUrl).run(agent(toOpenAIAgentsTools(tools, options)), 'Go', {
    signal: stop.signal,
  })
  const pid = await waitStarted(directory)
  stop.abort()
  await running.catch(() => undefined) // how a run ends when it is aborted is the SDK's affair
  await waitForExit(pid)
})
