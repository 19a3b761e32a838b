import { defineTool } from '@delta/executor'
import { toMcpServer } from '@delta/tool-adapters/mcp'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'

const tools = [
  defineTool({ name: 'shout', shell: 'printf %s ${text} | tr a-z A-Z', effects: { network: false } }),
]
const [ours, theirs] = InMemoryTransport.createLinkedPair() // over stdio: new StdioServerTransport()
await toMcpServer(tools).connect(ours)

const client = new Client({ name: 'example', version: '1.0.0' })
await client.connect(theirs)
const { content } = await client.callTool({ name: 'shout', arguments: { text: 'hello' } })
console.log(JSON.stringify(content))
await client.close()
