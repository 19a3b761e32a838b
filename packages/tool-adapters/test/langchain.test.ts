import { waitForExit } from '@delta/testkit'
import { expect, test } from 'vitest'
import { toLangChainTools } from '../src/langchain.js'
import { CALLS, OBSERVATIONS, setUp, tools, waitStarted } from './tools.js'

function named(made: ReturnType<typeof toLangChainTools>, name: string) {
  const found = made.find((tool) => tool.name === name)
  if (!found) throw new Error(`there is ${name}`)
  return found
}

test('LangChain invokes each tool with a call, and gets the message that answers it', async () => {
  const { options } = await setUp()
  const made = toLangChainTools(tools, options)
  const answers = await Promise.all(
    CALLS.map(({ name, arguments: args }, index) =>
      named(made, name).invoke({ type: 'tool_call', id: `call_${index}`, name, args }),
    ),
  )
  expect(answers.map(({ tool_call_id, content }) => [tool_call_id, content])).toEqual(
    OBSERVATIONS.map((pattern, index) => [`call_${index}`, expect.stringMatching(pattern)]),
  )
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
