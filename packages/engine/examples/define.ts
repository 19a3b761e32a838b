import { mkdtempSync } from 'node:fs'
import { defineAgent, runAgent } from '@delta/engine'
import { scriptModel } from '@delta/model'

const agent = defineAgent({
  name: 'greeter',
  llm: scriptModel([
    { tool_calls: [{ name: 'greet', arguments: { name: 'world' } }] },
    { content: 'I said: {{last_observation}}' },
  ]),
  system: 'You greet people.',
  tools: [{ name: 'greet', description: 'Greets somebody.', exec: 'echo Hello, ${name}!' }],
})

const run = runAgent({ agent, workDirectory: mkdtempSync('/tmp/greeter-'), message: 'Greet the world' })
for await (const event of run) if (event.kind === 'journal') console.log(event.event.type)
const result = await run
console.log(result.status, result.answer)
