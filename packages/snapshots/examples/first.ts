import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@delta/snapshots'

const at = mkdtempSync(join(tmpdir(), 'first-'))
const directory = mkdtempSync(join(at, 'project-'))
const store = await openStore(join(at, 'store'))

writeFileSync(join(directory, 'plan.md'), 'Measure first.\n')
const before = await store.take({ files: { directory } })
rmSync(join(directory, 'plan.md'))
writeFileSync(join(directory, 'notes.md'), 'Whatever.\n')
const after = await store.take({ files: { directory } })
if (before.id === null || after.id === null) throw new Error(before.message ?? after.message)

for (const { kind, path } of await store.compare({ id: before.id }, { id: after.id }))
  console.log(`${kind} ${path}`)
console.log(await store.restore(before.id, 'files', join(at, 'restored')))
console.log(readFileSync(join(at, 'restored', 'plan.md'), 'utf8'))
rmSync(at, { recursive: true })
