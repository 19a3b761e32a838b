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
const message = {
  tool_calls: [
    { id: '1', function: { name: 'shout', arguments: `{"text":"it's; ok"}` } },
    { id: '2', function: { name: 'whisper', arguments: '{}' } },
  ],
}
for (const answer of await dispatch(tools, message)) console.log(answer.content)
