/**
 * What a cycle costs: whole runs of `echo`, the command line beside a hand-written durable loop without recovery.
 *
 *   node benchmarks/loop.mjs [cycles …]        default: 10 100 300
 *
 * CPU time is that of the engine's own process; children are the same in both. Alternating, medians of 5.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startScriptedServer, temporaryAgent } from '../packages/testkit/dist/index.js'

const ROUNDS = 5
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const lengths = process.argv.slice(2).map(Number)

function measure(argv) {
  const directory = mkdtempSync(join(tmpdir(), 'delta-bench-'))
  const file = join(directory, 'measure.json')
  const workspace = mkdtempSync(join(directory, 'w-'))
  try {
    const env = { PATH: process.env.PATH, MEASURE_FILE: file, DELTA_API_KEY: 'benchmark' }
    execFileSync(process.execPath, ['--import', here('measure.mjs'), ...argv(workspace)], {
      env,
      stdio: 'pipe',
    })
    const files = readdirSync(workspace, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    const bytes = files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
    return { ...JSON.parse(readFileSync(file, 'utf8')), files: files.length, diskMb: bytes / 1024 / 1024 }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

async function compare(cycles) {
  const turns = [
    { tool_calls: [{ name: 'echo', arguments: { text: 'hi' } }], times: cycles },
    { content: 'Done.' },
  ]
  const server = await startScriptedServer(turns)
  const tools = [{ name: 'echo', description: 'Says it.', exec: 'echo ${text}' }]
  const agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools,
    agent: { max_iterations: cycles + 1 },
  })
  const cli = (workspace) => [
    here('../apps/cli/bin.cjs'),
    'run',
    '--agent',
    agent.path,
    '-m',
    'Go',
    '-w',
    workspace,
    '-q',
  ]
  const programs = { floor: (workspace) => [here('loop/floor.mjs'), server.baseUrl, workspace], delta: cli }
  const results = { floor: [], delta: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, argv] of Object.entries(programs)) results[name].push(measure(argv))
  }
  await server.close()
  await agent.remove()
  return Object.fromEntries(
    Object.entries(results).map(([name, runs]) => [
      name,
      Object.fromEntries(Object.keys(runs[0]).map((key) => [key, median(runs.map((run) => run[key]))])),
    ]),
  )
}

const rows = []
for (const cycles of lengths.length > 0 ? lengths : [10, 100, 300]) {
  const { floor, delta } = await compare(cycles)
  rows.push({
    cycles,
    'floor ms': Math.round(floor.cpuMs),
    'delta ms': Math.round(delta.cpuMs),
    ratio: (delta.cpuMs / floor.cpuMs).toFixed(2),
    'floor MB': Math.round(floor.rssMb),
    'delta MB': Math.round(delta.rssMb),
    files: delta.files,
    'disk MB': delta.diskMb.toFixed(2),
  })
}
console.table(rows)
for (const [index, row] of rows.slice(1).entries()) {
  const before = rows[index]
  const per = (key) => (row[key] - before[key]) / (row.cycles - before.cycles)
  console.log(
    `per cycle from ${before.cycles} to ${row.cycles}: floor ${per('floor ms').toFixed(2)} ms, delta ${per('delta ms').toFixed(2)} ms, ratio ${(per('delta ms') / per('floor ms')).toFixed(2)}`,
  )
}
