import { defineTool } from '@delta/executor'
import { dispatch, toOpenAITools } from '@delta/tool-adapters'

const tools = [
  defineTool({
    name: 'shout',
    description: 'Write a text in capitals',
    shell: 'printf %s ${text} | tr a-z A-Z',
  }),
  defineTool({ name: 'count_lines', exec: 'wc -l', stdin: 'text', timeout_ms: 5000 }),
]
console.log(JSON.stringify(toOpenAITools(tools)[0]?.function.parameters))

// What a model answers; its message then goes into the conversation, followed by these.
const call = (id: string, name: string, args: object) => ({
  id,
  function: { name, arguments: JSON.stringify(args) },
})
const message = { tool_calls: [call('1', 'shout', { text: "it's; ok" }), call('2', 'whisper', {})] }
for (const answer of await dispatch(tools, message)) console.log(answer.content)
