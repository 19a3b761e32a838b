import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startScriptedServer } from '../../packages/testkit/dist/index.js'
import { median } from '../report.mjs'
import { programsFor } from './programs.mjs'

const PRELOAD = fileURLToPath(new URL('../measure.mjs', import.meta.url))
// Everything stays until the end: a file system that has just lost thousands of files is slower to make new ones.
const directory = mkdtempSync(join(tmpdir(), 'delta-bench-loop-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))

/**
 * Medians of alternating runs, by program: `cpuMs`, `rssMb`, `diskMb` and `files`.
 *
 * @param {number} iterations of `echo`, before the answer
 * @param {Record<string, number>} rounds that a program takes part in; one that is not named takes part in none
 */
export async function compare(iterations, rounds) {
  return (await compareLengths([iterations], rounds)).get(iterations)
}

/** The same for several numbers of iterations, a map by them: the lengths alternate, too, for a machine is not as fast all the time. */
export async function compareLengths(lengths, rounds) {
  const results = new Map(
    lengths.map((iterations) => [
      iterations,
      Object.fromEntries(Object.keys(rounds).map((name) => [name, []])),
    ]),
  )
  for (let round = 0; round < Math.max(...Object.values(rounds)); round++) {
    const taking = Object.keys(rounds).filter((name) => round < rounds[name])
    for (const name of taking)
      for (const iterations of lengths)
        results.get(iterations)[name].push(await measureWithServer(name, iterations))
  }
  return new Map([...results].map(([iterations, runs]) => [iterations, mediansOfEach(runs)]))
}

const mediansOfEach = (runs) =>
  Object.fromEntries(Object.entries(runs).map(([name, each]) => [name, medians(each)]))

/** A server for each run, of which nothing is kept: a thousand growing requests are a hundred megabytes. */
async function measureWithServer(name, iterations) {
  const echo = { tool_calls: [{ name: 'echo', arguments: { text: 'hi' } }], times: iterations }
  const server = await startScriptedServer([echo, { content: 'Done.' }], { keepsRequests: false })
  const programs = await programsFor(server.baseUrl, iterations)
  try {
    return measure(programs.argv[name])
  } finally {
    await server.close()
    await programs.remove()
  }
}

function measure(argv) {
  const workspace = mkdtempSync(join(directory, 'w-'))
  const file = join(directory, 'measure.json')
  const env = {
    PATH: process.env.PATH,
    MEASURE_FILE: file,
    DELTA_API_KEY: 'benchmark',
    DELTA_STATE_DIR: join(directory, 'state'),
  }
  execFileSync(process.execPath, ['--import', PRELOAD, ...argv(workspace)], { env, stdio: 'pipe' })
  const files = readdirSync(workspace, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const bytes = files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
  return { ...JSON.parse(readFileSync(file, 'utf8')), files: files.length, diskMb: bytes / 1024 / 1024 }
}

const medians = (runs) =>
  Object.fromEntries(Object.keys(runs[0]).map((key) => [key, median(runs.map((run) => run[key]))]))
