import { defineTool } from '@delta/executor'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { expect, test } from 'vitest'
import { toAiSdkTools } from '../src/ai-sdk.js'
import { toLangChainTools } from '../src/langchain.js'
import { toMcpServer } from '../src/mcp.js'
import { toOpenAITools } from '../src/openai.js'
import { toOpenAIAgentsTools } from '../src/openai-agents.js'
import { setUp } from './tools.js'

const SCHEMA = {
  type: 'object',
  properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }], 'x-hint': 1 } },
  required: ['a'],
  $defs: { b: { const: 1 } },
}
const ITEM = {
  type: 'object',
  properties: { old: { type: 'string' }, new: { type: 'string' } },
  required: ['old'],
}
const tools = [
  defineTool({ name: 'verbatim', exec: 'cat', stdin: 'json', input_schema: SCHEMA }),
  defineTool({
    name: 'nested',
    exec: 'cat',
    stdin: 'json',
    parameters: [{ name: 'edits', type: 'array', items: ITEM }],
  }),
]
const EDITS = { type: 'array', items: ITEM }

test('an MCP client sees nested schemas as they are written, and calls with them', async () => {
  const { options } = await setUp()
  const server = toMcpServer(tools, options)
  const client = new Client({ name: 'tester', version: '1.0.0' })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(ours), client.connect(theirs)])
  const [verbatim, nested] = (await client.listTools()).tools
  expect(verbatim?.inputSchema).toEqual(SCHEMA)
  expect(nested?.inputSchema.properties).toEqual({ edits: EDITS })
  const args = { edits: [{ new: 'b', old: '-a' }] }
  expect(await client.callTool({ name: 'nested', arguments: args })).toMatchObject({
    isError: false,
    content: [{ text: '{"edits":[{"new":"b","old":"-a"}]}' }],
  })
  await client.close()
})

test('LangChain and the AI SDK are given nested schemas as they are written', async () => {
  const { options } = await setUp()
  expect(toLangChainTools(tools, options).map(({ schema }) => schema)).toMatchObject([
    SCHEMA,
    { properties: { edits: EDITS } },
  ])
  const made = toAiSdkTools(tools, options)
  expect(made.verbatim?.inputSchema).toMatchObject({ jsonSchema: SCHEMA })
})

test('strict mode describes nested objects; a schema that it cannot describe goes without', async () => {
  const { options } = await setUp()
  const strictEdits = {
    type: 'array',
    items: {
      type: 'object',
      properties: { old: { type: 'string' }, new: { type: ['string', 'null'] } },
      required: ['old', 'new'],
      additionalProperties: false,
    },
  }
  expect(toOpenAITools(tools, { strict: true }).map(({ function: told }) => told)).toMatchObject([
    { parameters: SCHEMA },
    { strict: true, parameters: { properties: { edits: strictEdits } } },
  ])
  expect(toOpenAIAgentsTools(tools, options)).toMatchObject([
    { strict: false, parameters: SCHEMA },
    { strict: true, parameters: { properties: { edits: strictEdits } } },
  ])
})
