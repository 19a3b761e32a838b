// Does with a run what an engine does: settle, think, act, to the last iteration. Tells an outside witness
// everything that leaves it, after the sync that must come first.
import { appendFileSync, existsSync, writeSync } from 'node:fs'
import { createRun, openRun } from '../dist/runs.js'

const [workDirectory, witness, iterations] = process.argv.slice(2)
const directory = `${workDirectory}/.delta/crash`
const start = ({ epoch }, resumed) => ({
  type: 'ENGINE_START',
  run_id: 'crash',
  task: 'count',
  engine: { epoch },
  resumed,
})

const run = await openOrCreate()
writeSync(1, 'open\n')
for (const call of run.summary().pendingCalls) {
  if (call.requested)
    append({ ...resultOf(call), status: 'INTERRUPTED', observation_content: 'outcome unknown' })
  else act(call)
}
for (let iteration = run.summary().lastIteration + 1; iteration <= Number(iterations); iteration++) {
  const messages = Array.from({ length: iteration }, (_, index) => ({
    role: 'user',
    content: `turn ${index}`,
  }))
  const record = run.requests.record({ iteration, request: { model: 'm', messages } })
  leave(`request ${iteration}`)
  record.complete({ response: { content: 'act' }, duration_ms: 1 })
  const id = `call-${iteration}`
  const call = { id, action_id: id, name: 'touch', arguments: '{}' }
  append({
    type: 'THOUGHT',
    iteration,
    content: `turn ${iteration}`,
    tool_calls: [call],
    llm_invocation_ref: record.ref,
  })
  act({ ...call, iteration })
}
append({ type: 'ENGINE_END', status: 'COMPLETED' })
run.journal.sync()
await run.updateMetadata()
run.close()
tell('end')

async function openOrCreate() {
  if (!existsSync(`${directory}/journal.jsonl`)) return await create()
  try {
    const opened = await openRun(directory)
    opened.journal.append(start(opened, true))
    return opened
  } catch (error) {
    if (error.code === 'ERR_RUN_EMPTY') return await create()
    throw error
  }
}

function create() {
  const events = (run) => [start(run, false), { type: 'USER_MESSAGE', content: 'count' }]
  return createRun(workDirectory, { runId: 'crash', events })
}

function act(call) {
  const { action_id, name, iteration } = call
  append({
    type: 'ACTION_REQUEST',
    iteration,
    action_id,
    attempt: call.attempts ? call.attempts + 1 : 1,
    tool_name: name,
  })
  leave(`start ${action_id}`)
  append({ ...resultOf(call), status: 'SUCCESS', observation_content: 'done' })
}

function resultOf({ action_id, name, iteration }) {
  return { type: 'ACTION_RESULT', iteration, action_id, tool_name: name, exit_code: null }
}

function append(event) {
  run.journal.append(event)
}

/** What follows can be seen from outside, so the journal must hold everything before it. */
function leave(what) {
  run.journal.sync()
  tell(`${what} ${run.journal.lastSeq}`)
}

function tell(line) {
  appendFileSync(witness, `${line}\n`)
}
