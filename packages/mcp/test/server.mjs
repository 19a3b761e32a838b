// A server for tests. It writes what happens to it into `server.log` where it starts; a file beside it may change its tools.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const log = (line) => appendFileSync('server.log', `${line}\n`)
const anything = { type: 'object', properties: {} }
const TOOLS = [
  { name: 'count', description: 'Counts its calls.', inputSchema: anything, annotations: { readOnlyHint: true } },
  { name: 'add', description: 'Adds.', inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } },
  { name: 'env', description: 'Prints its environment.', inputSchema: anything },
  { name: 'fail', description: 'Fails.', inputSchema: anything, annotations: { destructiveHint: true } },
  { name: 'end', description: 'Ends the server.', inputSchema: anything },
  { name: 'wait', description: 'Waits until it is told to stop.', inputSchema: anything },
  { name: 'structured', description: 'Has no text.', inputSchema: anything },
  { name: 'later', description: 'Needs tasks.', inputSchema: anything, execution: { taskSupport: 'required' } },
]

/** The tools as they are now: `tools.json` holds some of them anew, or as null. */
function tools() {
  const changes = existsSync('tools.json') ? JSON.parse(readFileSync('tools.json', 'utf8')) : {}
  const known = TOOLS.filter(({ name }) => changes[name] !== null)
  const changed = known.map((tool) => ({ ...tool, ...changes[tool.name] }))
  const added = Object.keys(changes).filter((name) => !TOOLS.some((tool) => tool.name === name))
  return [...changed, ...added.map((name) => ({ name, inputSchema: anything, ...changes[name] }))]
}

let count = 0
const text = (line) => ({ content: [{ type: 'text', text: line }] })

const CALLS = {
  count: () => text(`call ${++count}`),
  add: ({ a }) => text(`${a + 1}`),
  env: () => text(JSON.stringify(process.env)),
  fail: () => ({ ...text('no such file'), isError: true }),
  end() {
    console.error('out of paper')
    process.exit(3)
  },
  structured: () => ({ content: [], structuredContent: { seven: 7 } }),
  async wait(_, { signal, sendNotification, _meta }) {
    const { progressToken } = _meta
    await sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'waiting' } })
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } })
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    log('cancelled')
    return text('cancelled')
  },
}

const server = new Server({ name: 'tests/desk', version: '3.1' }, { capabilities: { tools: {}, logging: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools() }))
server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args } }, extra) => CALLS[name](args, extra))
log(`start ${process.pid}`)
await server.connect(new StdioServerTransport())
