import { expect, test } from 'vitest'
import { toAiSdkTools } from '../src/ai-sdk.js'
import { isAdapterError } from '../src/index.js'
import { toLangChainTools } from '../src/langchain.js'
import { toMcpServer } from '../src/mcp.js'
import { toOpenAIAgentsTools } from '../src/openai-agents.js'
import { tools } from './tools.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const ADAPTERS: [string, (given: never, options?: never) => unknown][] = [
  ['toAiSdkTools', toAiSdkTools],
  ['toLangChainTools', toLangChainTools],
  ['toMcpServer', toMcpServer],
  ['toOpenAIAgentsTools', toOpenAIAgentsTools],
]

/** The first line of the package's own error. */
function complaintOf(use: () => unknown): string | undefined {
  try {
    use()
    return undefined
  } catch (error) {
    return isAdapterError(error) ? error.message.split('\n')[0] : String(error)
  }
}

test.each(ADAPTERS)('a mistake in a call of %s is told with its name', (name, adapt) => {
  const wrong = 'is missing or invalid.'
  expect(complaintOf(() => adapt('tools.yaml' as never))).toBe(`${name}: the list of tools ${wrong}`)
  expect(complaintOf(() => adapt(tools as never, null as never))).toBe(
    `${name}: the argument options ${wrong}`,
  )
  expect(complaintOf(() => adapt(tools as never, { agentHome: 5 } as never))).toBe(
    `${name}: the option agentHome ${wrong}`,
  )
})

test.each([
  ['name', 5],
  ['version', null],
  ['progressMs', 0],
  ['progressMs', '1000'],
  ['progressMs', Number.NaN],
  ['progressMs', Number.POSITIVE_INFINITY],
])('a server that cannot be made as it is wanted is refused: %s %j', (option, value) => {
  expect(complaintOf(() => toMcpServer(tools, { [option]: value } as never))).toBe(
    `toMcpServer: the option ${option} is missing or invalid.`,
  )
})
