import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callMcpTool, importMcpServer, readServerFile } from '@delta/mcp'

// the smallest server there is; a real one is a command such as npx -y @modelcontextprotocol/server-everything
const program = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const result = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'clock', version: '1' } },
    'tools/list': { tools: [{ name: 'year', description: 'The year of a date.', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: String(params?.arguments?.date).slice(0, 4) }] },
  }[method]
  if (result) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})`
const cwd = await mkdtemp(join(tmpdir(), 'first-'))

const { path, text, tools } = await importMcpServer({ command: [process.execPath, '-e', program] }, { cwd })
await writeFile(path, text) // a person reviews it
console.log(tools.map(({ name, description }) => `${name}: ${description}`).join('\n'))

const { content } = await callMcpTool(readServerFile(path), 'year', { date: '2026-11-29' }, { cwd })
console.log(JSON.stringify(content))
await rm(cwd, { recursive: true })
