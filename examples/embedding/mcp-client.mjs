// An MCP client with a model: here the OpenAI Agents SDK. It needs nothing of ours but a command to start.
import { join } from 'node:path'
import { Agent, MCPServerStdio, run, setOpenAIAPI, setTracingDisabled } from '@openai/agents'

setOpenAIAPI('chat_completions')
setTracingDisabled(true)

const server = new MCPServerStdio({
  name: 'counter',
  command: process.execPath, // or: command: 'delta', args: ['mcp', 'serve', 'path/to/agent']
  args: [join(import.meta.dirname, 'mcp-server.mjs')],
})
await server.connect()
try {
  const model = process.env.MODEL ?? 'gpt-4o-mini'
  const agent = new Agent({ name: 'counter', model, mcpServers: [server] })
  const { finalOutput } = await run(agent, process.argv[2] ?? 'Which files are here?', {
    toolNotFoundBehavior: 'return_error_to_model', // without it a tool that does not exist ends the program
  })
  console.log(finalOutput)
} finally {
  await server.close()
}
