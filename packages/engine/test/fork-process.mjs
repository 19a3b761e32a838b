// Forks a run in a process of its own, to be killed: node fork-process.mjs <agent> <run directory> <iteration> <workspace> <files>
import { loadAgent } from '@delta/config-loader'
import { forkRun } from '@delta/engine'

const [agentDirectory, run, at, into, files] = process.argv.slice(2)
const { agent } = await loadAgent(agentDirectory, { env: process.env })
await forkRun({ agent, run, at: Number(at), into, files, message: 'On', env: process.env })
