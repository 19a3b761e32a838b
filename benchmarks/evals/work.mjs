// node work.mjs DIRECTORY CONCURRENCY [SHARD OF]: one worker, which prints its peak memory in MB to the file that MEMORY_FILE names.
import { writeFileSync } from 'node:fs'
import { work } from '../../packages/evals/dist/index.js'

const [directory, concurrency, number, of] = process.argv.slice(2)
const shard = of === undefined ? undefined : { number: Number(number), of: Number(of) }
await work(directory, { concurrency: Number(concurrency), shard })
if (process.env.MEMORY_FILE)
  writeFileSync(process.env.MEMORY_FILE, String(process.resourceUsage().maxRSS / 1024))
