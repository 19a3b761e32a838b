import { defineTool } from '@delta/executor'
import { toLangChainTools } from '@delta/tool-adapters/langchain'
import { type BaseMessage, HumanMessage } from '@langchain/core/messages'

const messages: BaseMessage[] = []
const [tool] = toLangChainTools([
  defineTool({ name: 'paper', shell: 'echo %PDF-1.7 and so on', output: 'file' }),
])

// After all answers to the calls of one message:
const answer = await tool?.invoke({ id: 'call_1', name: 'paper', args: {}, type: 'tool_call' })
messages.push(answer)
if (answer.artifact) messages.push(new HumanMessage({ contentBlocks: answer.artifact }))
for (const { type, content } of messages) console.log(type, JSON.stringify(content))
