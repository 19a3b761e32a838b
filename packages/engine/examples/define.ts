import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
const workDirectory = await mkdtemp(join(tmpdir(), 'greeter-'))

const run = runAgent({ agent, workDirectory, message: 'Greet the world' })
for await (const event of run)
  if (event.kind === 'journal' && event.event.type === 'ACTION_REQUEST') console.log(event.event.tool_name)
const result = await run
console.log(result.status, result.answer)
