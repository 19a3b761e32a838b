// An engine in a process of its own, to be killed: node engine-process.mjs <agent> <workspace>
import { loadAgent } from '@delta/config-loader'
import { runAgent } from '@delta/engine'

const [agentDirectory, workDirectory] = process.argv.slice(2)
const { agent } = await loadAgent(agentDirectory, { environment: process.env })
await runAgent({ agent, workDirectory, message: 'Go', environment: process.env })
