import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadAgent } from '@delta/config-loader'
import { runAgent } from '@delta/engine'

const { agent } = await loadAgent(join(import.meta.dirname, 'greeter'), { env: process.env })
const workDirectory = await mkdtemp(join(tmpdir(), 'greeter-'))

const result = await runAgent({
  agent,
  workDirectory,
  message: 'Greet the world',
  onEvent: (event) => event.kind === 'journal' && console.log(event.event.seq, event.event.type),
})
console.log(result.status, result.answer)
