// The same loop by LangGraph, whose checkpoints in SQLite keep it: node langgraph.mjs <base url> <workspace> <most turns>
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installedPeer } from './installed.mjs'

const { END, MessagesAnnotation, START, StateGraph } = await installedPeer('@langchain/langgraph')
const { ToolNode, toolsCondition } = await installedPeer('@langchain/langgraph/prebuilt')
const { SqliteSaver } = await installedPeer('@langchain/langgraph-checkpoint-sqlite')
const { tool } = await installedPeer('@langchain/core/tools')
const { ChatOpenAI } = await installedPeer('@langchain/openai')
const [baseURL, cwd, turns] = process.argv.slice(2)

const echo = tool(async ({ text }) => (await promisify(execFile)('echo', [text], { cwd })).stdout, {
  name: 'echo',
  description: 'Says it.',
  schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
})
const model = new ChatOpenAI({ model: 'scripted', apiKey: 'none', configuration: { baseURL } })
const bound = model.bindTools([echo])

mkdirSync(join(cwd, '.langgraph'))
const checkpointer = SqliteSaver.fromConnString(join(cwd, '.langgraph/checkpoints.sqlite'))
const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', async ({ messages }) => ({ messages: [await bound.invoke(messages)] }))
  .addNode('tools', new ToolNode([echo]))
  .addEdge(START, 'agent')
  .addConditionalEdges('agent', toolsCondition, ['tools', END])
  .addEdge('tools', 'agent')
  .compile({ checkpointer })

// A step begins when the one before is on disk, as in the floor. A turn is two steps: the model's and the tool's.
const options = { configurable: { thread_id: 'run' }, recursionLimit: 2 * Number(turns), durability: 'sync' }
await graph.invoke({ messages: [{ role: 'user', content: 'Go' }] }, options)
// Puts the write-ahead log into the database, so that it is not counted besides.
checkpointer.db.close()
