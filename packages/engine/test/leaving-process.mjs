// An engine in a process of its own, which prints each thing that leaves it, and whether the journal was on the disk by then:
// node leaving-process.mjs <agent> <workspace> [message to a run that waits]
import childProcess from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { openSync, writeSync, fdatasyncSync, rmSync } = fs
const { spawn } = childProcess
let journal
let isSynced = true

function leaves(what) {
  fs.appendFileSync(1, `${what}${isSynced ? '' : ', before the journal was synced'}\n`)
}

fs.openSync = (path, flags, ...rest) => {
  const descriptor = openSync(path, flags, ...rest)
  if (String(path).endsWith('journal.jsonl') && flags & fs.constants.O_APPEND) journal = descriptor
  return descriptor
}
fs.writeSync = (descriptor, ...rest) => {
  if (descriptor === journal) isSynced = false
  return writeSync(descriptor, ...rest)
}
fs.fdatasyncSync = (descriptor) => {
  fdatasyncSync(descriptor)
  if (descriptor === journal) isSynced = true
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

const [agentDirectory, workDirectory, message] = process.argv.slice(2)
const environment = process.env
const { agent } = await loadAgent(agentDirectory, { environment })
const call = (name, args) => [
  { id: name, type: 'function', function: { name, arguments: JSON.stringify(args) } },
]
const turns = [
  { content: '', tool_calls: call('ask_human', { prompt: 'Which?' }) },
  { content: '', tool_calls: call('work', {}) },
  { content: 'Done.' },
]
const model = {
  async complete() {
    leaves('a request')
    return { message: { role: 'assistant', ...turns.shift() }, raw: {} }
  },
}
async function ask() {
  leaves('a question')
  return 'yes'
}
const onEvent = ({ kind }) => kind === 'notice' && leaves('a notice')
const options = { agent, workDirectory, model, environment, onEvent }
if (message === undefined) await runAgent({ ...options, ask, message: 'Go' })
else {
  turns.shift()
  await runAgent({ ...options, message: 'Go' })
  leaves('the end')
  await continueRun({ ...options, message })
}
leaves('the end')
