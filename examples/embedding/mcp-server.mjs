// A server of your own. Without anything to add, `delta mcp serve <path>` is this program.
import { toMcpServer } from '@delta/tool-adapters/mcp'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { tools } from './tools.mjs'

const server = toMcpServer(tools, { name: 'counter', version: '1.0.0', cwd: process.cwd() })
const close = () => void server.close() // what runs is ended, and then there is nothing left to do
process.stdin.once('end', close) // the client has gone
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, close)
await server.connect(new StdioServerTransport())
