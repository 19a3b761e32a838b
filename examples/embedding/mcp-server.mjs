// A server of your own. Without anything to add, `delta mcp serve <path>` is this program.
import { toMcpServer } from '@delta/tool-adapters/mcp'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { tools } from './tools.mjs'

const server = toMcpServer(tools, { name: 'counter', version: '1.0.0', workDirectory: process.cwd() })
process.stdin.once('end', () => void server.close()) // the client has gone: what runs is ended
await server.connect(new StdioServerTransport())
