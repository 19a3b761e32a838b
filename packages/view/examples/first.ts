import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@delta/view'

const directory = mkdtempSync(join(tmpdir(), 'run-'))
const events = [
  { type: 'ENGINE_START', run_id: 'r1' },
  { type: 'USER_MESSAGE', content: 'Go.' },
  { type: 'THOUGHT', iteration: 1, content: 'Done.', tool_calls: [] },
]
const timestamp = new Date().toISOString()
const lines = events.map((event, index) => JSON.stringify({ seq: index + 1, timestamp, ...event }))
writeFileSync(join(directory, 'journal.jsonl'), `${lines.join('\n')}\n`)

const { url, runs, close } = await serve({ places: [directory] })
console.log(runs, 'run at', url.replace(/\d+\/.*/, '…'))
await close()
