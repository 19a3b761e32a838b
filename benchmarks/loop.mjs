/**
 * What a cycle costs: whole runs of `echo`, the command line beside a hand-written durable loop without recovery, and
 * beside two frameworks that keep nothing.
 *
 *   node benchmarks/loop.mjs [rounds] [--growth] [--write]
 *
 * CPU time is that of the engine's own process; children are the same in all. Alternating, medians of the rounds
 * (default 9). `--growth` also runs up to 1,000 cycles, which takes minutes.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startScriptedServer } from '../packages/testkit/dist/index.js'
import { programsFor } from './loop/programs.mjs'
import { median, numbers, report } from './report.mjs'

const CYCLES = 300
const GROWTH = [10, 100, 500, 1000]
const PRELOAD = fileURLToPath(new URL('measure.mjs', import.meta.url))
const [rounds = 9] = numbers()
// Everything stays until the end: a file system that has just lost thousands of files is slower to make new ones.
const directory = mkdtempSync(join(tmpdir(), 'delta-bench-loop-'))

function measure(argv) {
  const workspace = mkdtempSync(join(directory, 'w-'))
  const file = join(directory, 'measure.json')
  const env = { PATH: process.env.PATH, MEASURE_FILE: file, DELTA_API_KEY: 'benchmark' }
  execFileSync(process.execPath, ['--import', PRELOAD, ...argv(workspace)], { env, stdio: 'pipe' })
  const files = readdirSync(workspace, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const bytes = files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
  return { ...JSON.parse(readFileSync(file, 'utf8')), files: files.length, diskMb: bytes / 1024 / 1024 }
}

/** Medians of alternating runs, by program; `only` names those that run. */
async function compare(cycles, { rounds, only = () => true }) {
  const echo = { tool_calls: [{ name: 'echo', arguments: { text: 'hi' } }], times: cycles }
  const server = await startScriptedServer([echo, { content: 'Done.' }])
  const programs = await programsFor(server.baseUrl, cycles)
  const names = Object.keys(programs.argv).filter(only)
  const results = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) results[name].push(measure(programs.argv[name]))
  }
  await server.close()
  await programs.remove()
  const middle = (runs) => (key) => [key, median(runs.map((run) => run[key]))]
  return Object.fromEntries(
    names.map((name) => [name, Object.fromEntries(Object.keys(results[name][0]).map(middle(results[name])))]),
  )
}

async function wholeRuns() {
  const measured = await compare(CYCLES, { rounds })
  const floor = measured['durable floor']
  const rows = Object.entries(measured).map(([program, { cpuMs, rssMb, diskMb, files }]) => ({
    program,
    'CPU, ms a cycle': (cpuMs / CYCLES).toFixed(2),
    '× floor': (cpuMs / floor.cpuMs).toFixed(2),
    'peak memory, MB': Math.round(rssMb),
    'on disk, MB': diskMb === 0 ? 'none' : diskMb.toFixed(2),
    files: files === 0 ? 'none' : files,
  }))
  return { rows, delta: rows[1] }
}

/** CPU time of one more cycle of a long run, against one of a short one. */
async function growth() {
  const runs = new Map()
  const only = (name) => !name.includes('nothing kept')
  for (const cycles of GROWTH)
    runs.set(cycles, await compare(cycles, { rounds: Math.ceil(rounds / 3), only }))
  const [ten, hundred, fiveHundred, thousand] = GROWTH
  const per = (name, from, to) => (runs.get(to)[name].cpuMs - runs.get(from)[name].cpuMs) / (to - from)
  return Object.keys(runs.get(ten)).map((program) => ({
    program,
    '10 to 100, ms': per(program, ten, hundred).toFixed(2),
    '500 to 1000, ms': per(program, fiveHundred, thousand).toFixed(2),
    growth: (per(program, fiveHundred, thousand) / per(program, ten, hundred)).toFixed(2),
    'memory at 1000, MB': Math.round(runs.get(thousand)[program].rssMb),
    'on disk at 1000, MB': runs.get(thousand)[program].diskMb.toFixed(2),
  }))
}

try {
  const { rows, delta } = await wholeRuns()
  const tables = [{ title: `Runs of ${CYCLES} cycles`, rows }]
  if (process.argv.includes('--growth'))
    tables.push({ title: 'CPU time of one more cycle', rows: await growth() })
  report('loop', {
    tables,
    figures: {
      cycles: CYCLES,
      ratio: delta['× floor'],
      memory_mb: delta['peak memory, MB'],
      disk_mb: delta['on disk, MB'],
    },
  })
} finally {
  rmSync(directory, { recursive: true, force: true })
}
