import { defineTool, executeTool } from '@delta/executor'

const count = { name: 'count_words', exec: 'wc -w', stdin: 'text', timeout_ms: 5000 }
const tools = [defineTool(count)]
const context = { cwd: process.cwd(), env: process.env }

const good = { name: 'count_words', arguments: '{"text": "it was a dark night"}' }
const wrong = { name: 'word_count', arguments: '{}' }
for (const call of [good, wrong]) {
  const { status, observation } = await executeTool(tools, call, context)
  console.log(status, JSON.stringify(observation))
}
