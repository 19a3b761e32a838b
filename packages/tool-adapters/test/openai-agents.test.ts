import { waitForExit } from '@delta/testkit'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'
import { expect, test } from 'vitest'
import { toOpenAIAgentsTools } from '../src/openai-agents.js'
import { CALLS, OBSERVATIONS, observationsSent, setUp, tools, waitStarted } from './tools.js'

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
