import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openJournal } from '@delta/journal'
import { costTable, openTrace } from '@delta/trace'

const directory = mkdtempSync(join(tmpdir(), 'run-'))
const tokens = { input: 900, cache_read: 0, cache_write: 0, output: 20, reasoning: 0 }
openJournal(join(directory, 'journal.jsonl')).append(
  { type: 'ENGINE_START', run_id: 'r1' },
  { type: 'USER_MESSAGE', content: 'Go.' },
  {
    type: 'THOUGHT',
    iteration: 1,
    content: 'Done.',
    tool_calls: [],
    model: 'm',
    tokens,
    price: { input: 2, output: 10 },
  },
)

const trace = await openTrace(directory)
for await (const { n, said, thought } of trace.steps()) console.log(n, said[0]?.text, thought?.content)
for (const { key, cost } of await costTable([trace], 'model')) console.log(key, cost, 'dollars')
