// Opens a run of an old layout, and closes it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRun } from '../dist/runs.js'

const directory = join(process.argv[2], '.delta', 'old')
mkdirSync(join(directory, 'io'), { recursive: true })
writeFileSync(join(directory, 'io', 'note.json'), '{}')
const envelope = (seq, type, payload) => ({ seq, timestamp: '2025-10-01T12:00:00.000Z', type, payload })
const events = [
  envelope(1, 'RUN_START', { run_id: 'old', task: 'greet' }),
  envelope(2, 'USER_MESSAGE', { content: 'greet' }),
]
writeFileSync(join(directory, 'journal.jsonl'), events.map((event) => `${JSON.stringify(event)}\n`).join(''))
const run = await openRun(directory)
run.close()
