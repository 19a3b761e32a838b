import { type ChatMessage, scriptModel } from '@delta/model'

const model = scriptModel([
  { content: 'Let me look.', tool_calls: [{ name: 'read', arguments: { file: 'a.txt' } }] },
  { content: 'The file says: {{last_observation}}' },
])

const messages: ChatMessage[] = [{ role: 'user', content: 'What is in a.txt?' }]
for (;;) {
  const { message } = await model.complete({ messages })
  messages.push(message)
  console.log(message.content)
  if (!message.tool_calls) break
  for (const call of message.tool_calls) {
    console.log(`  ${call.function.name} ${call.function.arguments}`)
    messages.push({ role: 'tool', tool_call_id: call.id, content: 'Hello.' })
  }
}
