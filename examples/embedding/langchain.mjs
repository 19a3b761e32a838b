// LangChain: a chat model with bound tools. With LangGraph, hand the same tools to its ToolNode.
import { toLangChainTools } from '@delta/tool-adapters/langchain'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { tools } from './tools.mjs'

const made = toLangChainTools(tools, { cwd: process.cwd() })
const model = new ChatOpenAI({ model: process.env.MODEL ?? 'gpt-4o-mini' }).bindTools(made)

/** @type {import('@langchain/core/messages').BaseMessage[]} */
const messages = [new HumanMessage(process.argv[2] ?? 'Which files are here?')]
for (let turn = 0; turn < 10; turn++) {
  const answer = await model.invoke(messages)
  // LangChain sets calls aside whose arguments are no JSON. The tool says what is wrong with them.
  const broken = /** @type {any[]} */ (answer.invalid_tool_calls ?? [])
  answer.tool_calls = [...(answer.tool_calls ?? []), ...broken]
  messages.push(answer)
  if (answer.tool_calls.length === 0) {
    console.log(answer.text)
    break
  }
  for (const { id = '', name, args } of answer.tool_calls) {
    const tool = made.find((candidate) => candidate.name === name)
    const unknown = { tool_call_id: id, status: /** @type {const} */ ('error') }
    messages.push(
      tool
        ? await tool.invoke({ id, name, args, type: 'tool_call' })
        : new ToolMessage({ ...unknown, content: `There is no tool "${name}". Nothing was run.` }),
    )
  }
}
