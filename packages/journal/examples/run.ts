import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRun, listRuns, openRun } from '@delta/journal/runs'

const workspace = mkdtempSync(join(tmpdir(), 'workspace-'))
const run = await createRun(workspace, {
  runId: 'first',
  events: ({ runId, epoch }) => [
    { type: 'ENGINE_START', run_id: runId, agent_name: 'greeter', engine: { epoch } },
    { type: 'USER_MESSAGE', content: 'Say hi' },
  ],
})
run.journal.sync() // before anything leaves the process
run.close() // a killed process does not come here

const again = await openRun(run.directory)
again.journal.append({ type: 'THOUGHT', iteration: 1, content: 'Hi!', tool_calls: [] })
again.journal.append({ type: 'ENGINE_END', status: 'COMPLETED' })
again.close()
for (const { runId, status, answer } of await listRuns(workspace)) console.log(runId, status, answer)
