// Takes one snapshot after another of a directory that changes, and prints the id and the state of each that was taken.
import { writeFileSync } from 'node:fs'
import { openStore } from '@delta/snapshots'

const [from, at] = process.argv.slice(2)
const store = await openStore(at)
for (let state = 0; ; state++) {
  writeFileSync(`${from}/state`, `${state}`)
  for (let index = 0; index < 20; index++)
    writeFileSync(`${from}/${index}`, `${state}`.repeat(20_000 + index))
  const { id } = await store.take({ files: { directory: from } })
  console.log(`${id} ${state}`)
}
