// node run-all.mjs AGENT DIRECTORY COUNT: so many runs at once in one process, without an evaluation (the floor).
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadAgent } from '../../packages/config-loader/dist/index.js'
import { runAgent } from '../../packages/engine/dist/index.js'

const [home, directory, count] = process.argv.slice(2)
const all = Array.from({ length: Number(count) }, async (_, index) => {
  const own = join(directory, String(index))
  mkdirSync(join(own, 'workspace'), { recursive: true })
  const { agent } = await loadAgent(home, { env: process.env })
  return runAgent({
    agent,
    workDirectory: join(own, 'workspace'),
    runsDirectory: join(own, 'runs'),
    message: 'Go.',
  })
})
await Promise.all(all)
