// Opens a journal: a new one, or one that holds the text given. Syncs it, if told.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openJournal } from '../dist/index.js'

const [directory, text, then] = process.argv.slice(2)
const path = join(directory, 'journal.jsonl')
if (text !== undefined) writeFileSync(path, text)
const journal = openJournal(path)
if (then === 'sync') journal.sync()
