// The engine as a library: a whole agent, journaled step by step, which any process can go on with after a crash.
import { join } from 'node:path'
import { loadAgent, loadEnvironment } from '@delta/config-loader'
import { continueRun, runAgent } from '@delta/engine'

const workDirectory = process.cwd()
const { env } = process
const { agent } = await loadAgent(join(import.meta.dirname, 'agent'), { env })
const credentials = await loadEnvironment({ workDirectory, agentHome: agent.home, llm: agent.llm, env })

/** @param {import('@delta/engine').RunResult} result */
function print({ status, answer, reason, question }) {
  console.log(status, answer ?? question ?? reason)
  if (status !== 'COMPLETED') process.exit(1)
}

const first = await runAgent({
  agent,
  workDirectory,
  message: process.argv[2] ?? 'Which files are here?',
  credentials,
  onEvent: (event) => event.kind === 'journal' && console.error(event.event.seq, event.event.type),
})
print(first)

// Later, perhaps from another program: the run is a directory, and knows its agent.
const second = await continueRun({
  workDirectory,
  runId: first.runId,
  trusted: true, // this program started it; a run that came with a workspace names whose commands are run
  message: 'Say it in one word.',
  credentials,
})
print(second)
