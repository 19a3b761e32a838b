import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callMcpTool, importMcpServer, readServerFile } from '@delta/mcp'
import { fixtures } from '@delta/testkit'

const cwd = await mkdtemp(join(tmpdir(), 'first-'))
const command = [process.execPath, fixtures.mcpServer] // any command that speaks MCP over stdio

const { path, text, tools } = await importMcpServer({ command }, { cwd })
await writeFile(path, text) // review it
console.log(tools.map(({ name }) => name).join(' '))

const { content } = await callMcpTool(readServerFile(path), 'add', { a: 2 }, { cwd })
console.log(JSON.stringify(content))
await rm(cwd, { recursive: true })
