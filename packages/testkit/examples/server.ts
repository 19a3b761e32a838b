import { startScriptedServer } from '@delta/testkit'

const server = await startScriptedServer([
  { before: [{ status: 429, retryAfter: '0' }], tool_calls: [{ name: 'echo', arguments: { text: 'hi' } }] },
  { content: 'It said {{last_observation}}.' },
])

const ask = (...messages: object[]) =>
  fetch(`${server.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'any', messages }),
  })

const question = { role: 'user', content: 'What does it say?' }
await ask(question) // a rate limit
const { choices } = (await (await ask(question)).json()) as { choices: { message: object }[] }
const call = choices[0]?.message ?? {}
await ask(question, call) // a call without its answer
await ask(question, call, { role: 'tool', tool_call_id: 'call_1_1', content: 'hi' })

for (const { number, outcome, problem } of server.requests()) console.log(number, problem ?? outcome)
await server.close()
