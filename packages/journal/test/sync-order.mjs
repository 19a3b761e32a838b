// One turn of an engine, with a line on stdout wherever something leaves the process.
import { createRun } from '../dist/runs.js'

const [workDirectory, sync] = process.argv.slice(2)
const run = await createRun(workDirectory, {
  runId: 'r',
  sync: sync !== 'no-sync',
  events: () => [
    { type: 'ENGINE_START', run_id: 'r' },
    { type: 'USER_MESSAGE', content: 'hi' },
  ],
})
const record = run.requests.record({
  iteration: 1,
  request: { messages: [{ role: 'user', content: 'hi' }] },
})
run.journal.sync()
console.log('request leaves')
record.complete({ response: {} })
const call = { id: 'a', action_id: 'a', name: 'echo', arguments: '{}' }
run.journal.append({
  type: 'THOUGHT',
  iteration: 1,
  content: '',
  tool_calls: [call],
  llm_invocation_ref: record.ref,
})
run.journal.append({ type: 'ACTION_REQUEST', iteration: 1, action_id: 'a', attempt: 1, tool_name: 'echo' })
run.journal.sync()
run.journal.sync()
console.log('tool starts')
run.journal.append({
  type: 'ACTION_RESULT',
  iteration: 1,
  action_id: 'a',
  tool_name: 'echo',
  status: 'SUCCESS',
  observation_content: 'hi',
})
run.journal.sync()
console.log('next request leaves')
