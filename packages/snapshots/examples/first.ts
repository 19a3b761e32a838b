import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@delta/snapshots'

const directory = mkdtempSync(join(tmpdir(), 'project-'))
const store = await openStore(`${directory}.snapshots`)

writeFileSync(join(directory, 'plan.md'), 'Measure first.\n')
const { id, message } = await store.take({ files: { directory } })
if (id === null) throw new Error(message)

rmSync(join(directory, 'plan.md')) // what a program does when nobody looks
console.log(await store.restore(id, 'files', `${directory}.before`))
console.log(readFileSync(`${directory}.before/plan.md`, 'utf8'))
