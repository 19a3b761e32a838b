// An engine in a process of its own, which prints each thing that leaves it, and what of its run was not on the disk by then:
// node leaving-process.mjs <agent> <workspace> [message to a run that waits]
import childProcess from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { unsynced } from './unsynced.mjs'

const { rmSync } = fs
const { spawn } = childProcess
/** The run as far as somebody relies on it. Records of requests count once a thought names them, which the journal's tests hold. */
const COUNTS =
  /[/]\.delta([/][^/]+([/](journal\.jsonl|configuration[/].*[/].*|(interaction|secrets)([/].*)?))?)?$/

function leaves(what) {
  // an answered question may come back, a secret may not
  const lost = unsynced(COUNTS).filter((path) => fs.existsSync(path) || path.endsWith('secrets'))
  fs.appendFileSync(1, `${what}${lost.length === 0 ? '' : `, before ${lost.join(', ')} was synced`}\n`)
}

fs.rmSync = (path, ...rest) => {
  if (String(path).endsWith('interaction')) leaves('the question is removed')
  rmSync(path, ...rest)
}
childProcess.spawn = (program, ...rest) => {
  leaves(`${program} starts`)
  return spawn(program, ...rest)
}
syncBuiltinESMExports()

const { loadAgent } = await import('@delta/config-loader')
const { continueRun, runAgent } = await import('@delta/engine')
const { ModelError } = await import('@delta/model')

const [agentDirectory, workDirectory, message] = process.argv.slice(2)
const env = process.env
const { agent } = await loadAgent(agentDirectory, { env })
const call = (name, args) => [
  { id: name, type: 'function', function: { name, arguments: JSON.stringify(args) } },
]
const turns = [
  { content: '', tool_calls: call('ask_human', { prompt: 'Which?', input_type: 'password' }) },
  { content: '', tool_calls: call('work', {}) },
  new ModelError('ERR_MODEL_RATE_LIMIT', 'Busy.', { retryable: true, retryAfterMs: 0 }),
  { content: 'Done.' },
]
const model = {
  async complete() {
    leaves('a request')
    const turn = turns.shift()
    if (turn instanceof Error) throw turn
    return { message: { role: 'assistant', ...turn }, raw: {} }
  },
}
async function ask() {
  leaves('a question')
  return 'yes'
}
const onEvent = ({ kind }) => kind === 'notice' && leaves('a notice')
const options = { agent, workDirectory, model, env, onEvent }
if (message === undefined) await runAgent({ ...options, ask, message: 'Go' })
else {
  turns.shift()
  await runAgent({ ...options, message: 'Go' })
  leaves('the end')
  await continueRun({ ...options, trusted: true, message })
}
leaves('the end')
