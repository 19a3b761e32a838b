/**
 * What a cycle costs: whole runs of `echo`, the command line beside a hand-written durable loop without recovery.
 *
 *   node benchmarks/loop.mjs [cycles …] [--write]        default: 10 100 300
 *
 * CPU time is that of the engine's own process; children are the same in both. Alternating, medians of 5.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startScriptedServer, temporaryAgent } from '../packages/testkit/dist/index.js'
import { median, numbers, report } from './report.mjs'

const ROUNDS = 5
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const lengths = numbers()

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
    'floor, ms': Math.round(floor.cpuMs),
    'delta, ms': Math.round(delta.cpuMs),
    '× floor': (delta.cpuMs / floor.cpuMs).toFixed(2),
    'floor, MB': Math.round(floor.rssMb),
    'delta, MB': Math.round(delta.rssMb),
    files: delta.files,
    'disk, MB': delta.diskMb.toFixed(2),
  })
}
const perCycle = rows.slice(1).map((row, index) => {
  const before = rows[index]
  const per = (key) => (row[key] - before[key]) / (row.cycles - before.cycles)
  return {
    cycles: `${before.cycles} to ${row.cycles}`,
    'floor, ms': per('floor, ms').toFixed(2),
    'delta, ms': per('delta, ms').toFixed(2),
    '× floor': (per('delta, ms') / per('floor, ms')).toFixed(2),
  }
})
const last = rows.at(-1)
report('loop', {
  tables: [
    { title: 'Whole runs, CPU time, peak memory and what lies on disk afterwards', rows },
    { title: 'CPU time of one more cycle', rows: perCycle },
  ],
  figures: {
    cycles: last.cycles,
    ratio: last['× floor'],
    memory_mb: last['delta, MB'],
    disk_mb: last['disk, MB'],
  },
})
