// LangChain: a chat model with bound tools. With LangGraph, hand the same tools to its ToolNode.
import { toLangChainTools } from '@delta/tool-adapters/langchain'
import { HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { tools } from './tools.mjs'

const made = toLangChainTools(tools, { workDirectory: process.cwd() })
const model = new ChatOpenAI({ model: process.env.MODEL ?? 'gpt-4o-mini' }).bindTools(made)

/** @type {import('@langchain/core/messages').BaseMessage[]} */
const messages = [new HumanMessage(process.argv[2] ?? 'Which files are here?')]
for (let turn = 0; turn < 10; turn++) {
  const answer = await model.invoke(messages)
  messages.push(answer)
  if (!answer.tool_calls?.length) {
    console.log(answer.text)
    break
  }
  for (const call of answer.tool_calls) {
    const tool = made.find(({ name }) => name === call.name)
    if (!tool) throw new Error(`There is no tool ${call.name}`)
    messages.push(await tool.invoke({ ...call, type: 'tool_call' }))
  }
}
