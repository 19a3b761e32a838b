import { waitForExit } from '@delta/testkit'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { expect, onTestFinished, test } from 'vitest'
import { toMcpServer } from '../src/mcp.js'
import { CALLS, OBSERVATIONS, setUp, tools, waitStarted } from './tools.js'

async function connect(more: { progressMs?: number } = {}) {
  const { directory, options } = await setUp()
  const server = toMcpServer(tools, { name: 'tester', version: '1.0.0', ...options, ...more })
  const client = new Client({ name: 'client', version: '1.0.0' })
  const [mine, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(theirs), client.connect(mine)])
  onTestFinished(() => client.close())
  return { client, directory }
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

test('each call has a result; what went wrong is marked as an error', async () => {
  const { client } = await connect()
  const results = await Promise.all(CALLS.map((call) => client.callTool(call)))
  expect(results).toEqual(
    OBSERVATIONS.map((pattern, index) => ({
      content: [{ type: 'text', text: expect.stringMatching(pattern) }],
      isError: index > 0,
    })),
  )
  expect(await client.callTool({ name: 'nothing' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('there is no tool "nothing"') }],
  })
})

test('a client that asks for progress hears that the command still runs, and can cancel it', async () => {
  const { client, directory } = await connect({ progressMs: 10 })
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
})
