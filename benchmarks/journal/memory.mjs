/** Reads the journal in argv[3] the way argv[2] says, and prints the peak memory of this process in MB. */
import { readFileSync } from 'node:fs'
import { readJournal, streamJournal } from '../../packages/journal/dist/index.js'
import { runEventSchema as schema } from '../../packages/journal/dist/runs.js'

const [how, path] = process.argv.slice(2)
const ways = {
  nothing: () => [],
  floor: () =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  readJournal: () => readJournal(path, { schema }),
  streamJournal: async () => {
    let count = 0
    for await (const event of streamJournal(path, { schema })) count += event.seq > 0 ? 1 : 0
    return count
  },
}
const kept = await ways[how]?.()
console.log(process.resourceUsage().maxRSS / 1024 + (kept === undefined ? Number.NaN : 0))
