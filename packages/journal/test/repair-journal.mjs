// Repairs a damaged journal.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repairJournal } from '../dist/index.js'

const path = join(process.argv[2], 'journal.jsonl')
writeFileSync(path, 'damaged\n')
repairJournal(path)
