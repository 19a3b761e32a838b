import { waitForExit } from '@delta/testkit'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { expect, onTestFinished, test } from 'vitest'
import { registerMcpTools, toMcpServer } from '../src/mcp.js'
import {
  CALLS,
  mediaTools,
  OBSERVATIONS,
  ODD_CALLS,
  ODD_OBSERVATIONS,
  PDF,
  PNG,
  setUp,
  tools,
  waitStarted,
} from './tools.js'

async function connect(more: { progressMs?: number } = {}) {
  const { directory, options } = await setUp()
  const server = toMcpServer(tools, { name: 'tester', version: '1.0.0', ...options, ...more })
  return { directory, client: await clientOf(server) }
}

/** A server of somebody else with a tool of its own, and ours beside it. */
async function connectToHost(more: { progressMs?: number } = {}) {
  const { directory, options } = await setUp()
  const server = new McpServer({ name: 'host', version: '2.0.0' })
  server.registerTool('greet', {}, () => ({ content: [{ type: 'text', text: 'Hello' }] }))
  const registered = registerMcpTools(server, tools, { ...options, ...more })
  return { directory, registered, client: await clientOf(server) }
}

async function clientOf(server: { connect(transport: InMemoryTransport): Promise<void> }) {
  const client = new Client({ name: 'client', version: '1.0.0' })
  const [mine, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(theirs), client.connect(mine)])
  onTestFinished(() => client.close())
  return client
}

test('a client sees the tools, with hints from what they declare', async () => {
  const { client } = await connect()
  expect(client.getServerVersion()).toMatchObject({ name: 'tester', version: '1.0.0' })
  const listed = (await client.listTools()).tools
  expect(listed[0]).toEqual({
    name: 'print',
    description: 'Print a text',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    },
    annotations: { idempotentHint: true, openWorldHint: false },
  })
  expect(Object.fromEntries(listed.map(({ name, annotations }) => [name, annotations]))).toEqual({
    print: { idempotentHint: true, openWorldHint: false },
    fail: undefined,
    hang: undefined,
    wipe: { destructiveHint: true, openWorldHint: true },
    look: { destructiveHint: false, openWorldHint: false, readOnlyHint: true },
    repeat: undefined,
    wait: undefined,
  })
})

test("tools mounted on a program's own server are listed as ours list them, beside its own", async () => {
  const host = await connectToHost()
  const { tools: mounted } = await host.client.listTools()
  const { tools: served } = await (await connect()).client.listTools()
  expect(mounted.map(({ name }) => name)).toEqual(['greet', ...served.map(({ name }) => name)])
  for (const tool of served) {
    const { annotations, description, inputSchema } = tool
    expect(mounted.find(({ name }) => name === tool.name)).toMatchObject({
      ...(annotations && { annotations }),
      ...(description && { description }),
      inputSchema,
    })
  }
  expect(await host.client.callTool({ name: 'greet' })).toMatchObject({ content: [{ text: 'Hello' }] })
  for (const { remove } of host.registered) remove()
  expect((await host.client.listTools()).tools.map(({ name }) => name)).toEqual(['greet'])
})

const SERVERS = [
  ['of our own', connect],
  ["of the program's", connectToHost],
] as const

test.each(SERVERS)(
  'each call has a result, what went wrong is marked as an error, on a server %s',
  async (_, start) => {
    const { client } = await start()
    const results = await Promise.all([...CALLS, ...ODD_CALLS].map((call) => client.callTool(call)))
    const isError = [false, true, true, true, true, true, false, false]
    expect(results).toEqual(
      [...OBSERVATIONS, ...ODD_OBSERVATIONS].map((pattern, index) => ({
        content: [{ type: 'text', text: expect.stringMatching(pattern) }],
        isError: isError[index],
      })),
    )
    expect(await client.callTool({ name: 'nothing' })).toMatchObject({ isError: true })
  },
)

test.each(SERVERS)(
  'a client that asks for progress hears that the command still runs, and can cancel it, on a server %s',
  async (_, start) => {
    const { client, directory } = await start({ progressMs: 10 })
    const stop = new AbortController()
    let heard = 0
    const twice = new Promise<void>((resolve) => {
      const onprogress = () => {
        heard++
        if (heard === 2) resolve()
      }
      const running = client.callTool({ name: 'wait', arguments: {} }, undefined, {
        onprogress,
        signal: stop.signal,
      })
      running.catch(() => undefined) // cancelled below
    })
    const pid = await waitStarted(directory)
    await twice
    stop.abort()
    await waitForExit(pid)
  },
)

test('a picture that a tool prints is passed on as a picture, and a file as a resource', async () => {
  const { options } = await setUp()
  const client = await clientOf(toMcpServer(mediaTools, { name: 'tester', version: '1.0.0', ...options }))
  expect(await client.callTool({ name: 'shot' })).toEqual({
    content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
    isError: false,
  })
  const resource = { uri: 'attachment:file', mimeType: 'application/pdf', blob: PDF }
  expect(await client.callTool({ name: 'paper' })).toEqual({
    content: [{ type: 'resource', resource }],
    isError: false,
  })
})
