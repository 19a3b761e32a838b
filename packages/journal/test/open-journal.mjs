// Opens a journal: a new one, or one that holds the text given.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openJournal } from '../dist/index.js'

const [directory, text] = process.argv.slice(2)
const path = join(directory, 'journal.jsonl')
if (text !== undefined) writeFileSync(path, text)
openJournal(path)
