// An engine in a process of its own, to be killed: node engine-process.mjs <agent> <workspace> [events until it kills itself]
import { loadAgent } from '@delta/config-loader'
import { continueRun, findRun, runAgent } from '@delta/engine'

const [agentDirectory, workDirectory, killAfter] = process.argv.slice(2)
const { agent } = await loadAgent(agentDirectory, { env: process.env })

let events = 0
function onEvent(event) {
  if (event.kind !== 'journal') return
  events += 1
  if (events === 1) process.stdout.write('begun\n')
  if (events === Number(killAfter)) process.kill(process.pid, 'SIGKILL')
}

const credentials = { apiKey: 'test-key-not-real' }
const options = { agent, workDirectory, credentials, env: process.env, onEvent }
const before = await findRun(workDirectory).catch(() => undefined)
if (before?.status !== 'COMPLETED') {
  const result = before
    ? await continueRun({ ...options, trusted: true, retry: process.env.RETRY === '1' })
    : await runAgent({ ...options, message: 'Go' })
  process.stdout.write(`${result.status}\n`)
}
