/**
 * What an evaluation costs beside the runs that it makes, beside looking at its files by hand, and beside workers that share nothing.
 *
 *   node benchmarks/evals.mjs [rounds] [--write]        default: 3
 *
 * CPU time of the programs and of the commands that they start (Linux), alternating, medians. Finished cells are made by writing
 * their files. The workers that share cells have no shards: all begin with the same cell.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import './certificates.mjs'
import { cpuOf, finish, planned } from './evals/evaluations.mjs'
import { goalOf } from './goals.mjs'
import { median, numbers, report } from './report.mjs'

const [rounds = 3] = numbers()
const AT_ONCE = 200
const STARTS = 10
const FINISHED = { tasks: 34, variants: 3, repeats: 5 }
const MANY = { tasks: 100, variants: 4, repeats: 25 }
const WORKERS = 8
const CLAIMED = { tasks: 10, variants: 2, repeats: 24, script: '- content: Done.\n' }
const [NODE, DELTA] = [process.execPath, path('../apps/cli/bin.cjs')]
const root = mkdtempSync(join(tmpdir(), 'delta-bench-evals-'))
let places = 0

function path(relative) {
  return fileURLToPath(new URL(relative, import.meta.url))
}

function place() {
  places += 1
  return join(root, String(places))
}

/** Medians of what some measurements give, each done once in every round. */
async function alternate(measurements) {
  const measured = measurements.map(() => [])
  for (let round = 0; round < rounds; round++)
    for (const [index, measure] of measurements.entries()) measured[index].push(await measure())
  return measured.map(median)
}

const atOnce = await runsAtOnce()
const again = await reissue()
const status = await statusOfMany()
const claims = await sharedCells()
rmSync(root, { recursive: true })

const row = (what, cpu, floor, goal) => ({
  what,
  'CPU, ms': Math.round(cpu),
  '× floor': floor === undefined ? '' : (cpu / floor).toFixed(2),
  goal: goal === undefined ? '' : goalOf(goal).atMost,
})
report('evals', {
  tables: [
    {
      title: `${AT_ONCE} runs of five commands at once (memory of the worker: ${Math.round(atOnce.memory)} MB):`,
      rows: [
        row('`Promise.all` of `runAgent` (the floor)', atOnce.floor, atOnce.floor),
        row(
          '`work` of an evaluation, without a command that scores',
          atOnce.work,
          atOnce.floor,
          'evals.at_once',
        ),
        row(`one process a run, from ${STARTS}`, atOnce.starts, atOnce.floor),
      ],
    },
    {
      title: `An evaluation that is finished, of ${cellsOf(FINISHED)} and ${cellsOf(MANY)} cells:`,
      rows: [
        row('`delta --version` (the floor)', again.floor, again.floor),
        row(`\`delta eval run\` again, ${cellsOf(FINISHED)} cells`, again.run, again.floor),
        row('`find -name result.json -exec cat` (the floor)', status.floor, status.floor),
        row(`\`delta eval status\`, ${cellsOf(MANY)} cells`, status.ours, status.floor, 'evals.status'),
      ],
    },
    {
      title: `${cellsOf(CLAIMED)} cells without a command, ${WORKERS} workers:`,
      rows: [
        row('an evaluation for each (the floor)', claims.floor, claims.floor),
        row('one evaluation', claims.ours, claims.floor, 'evals.claims'),
      ],
    },
  ],
  figures: {
    at_once: (atOnce.work / atOnce.floor).toFixed(2),
    of_starts: (atOnce.work / atOnce.starts).toFixed(2),
    memory_mb: Math.round(atOnce.memory),
    again: (again.run / again.floor).toFixed(2),
    again_ms_a_cell: ((again.run - 2 * again.floor) / cellsOf(FINISHED)).toFixed(2),
    again_files: again.changed,
    status: (status.ours / status.floor).toFixed(2),
    claims: (claims.ours / claims.floor).toFixed(2),
  },
})

function cellsOf({ tasks, variants, repeats }) {
  return tasks * variants * repeats
}

async function runsAtOnce() {
  const agentOf = place()
  await planned(agentOf, { tasks: 1, variants: 1, repeats: 1 })
  const agent = join(agentOf, 'agent-1')
  const memory = []
  const [floor, work, starts] = await alternate([
    () => cpuOf([NODE, path('evals/run-all.mjs'), agent, place(), String(AT_ONCE)]),
    async () => {
      const home = place()
      const directory = await planned(home, { tasks: 40, variants: 1, repeats: AT_ONCE / 40 })
      process.env.MEMORY_FILE = join(home, 'memory')
      const cpu = await cpuOf([NODE, path('evals/work.mjs'), directory, String(AT_ONCE)])
      memory.push(Number(readFileSync(process.env.MEMORY_FILE, 'utf8')))
      return cpu
    },
    async () => {
      let cpu = 0
      for (let count = 0; count < STARTS; count++)
        cpu += await cpuOf([NODE, DELTA, 'run', '--agent', agent, '-w', place(), '-m', 'Go.', '-q'])
      return (cpu * AT_ONCE) / STARTS
    },
  ])
  return { floor, work, starts, memory: median(memory) }
}

async function reissue() {
  const home = place()
  const directory = await planned(home, FINISHED)
  finish(directory)
  const command = [NODE, DELTA, 'eval', 'run', join(home, 'eval.yaml'), '-q', '--trust-run']
  await cpuOf(command) // it is listed as one's own
  const before = stampsBelow(directory)
  const [floor, run] = await alternate([() => cpuOf([NODE, DELTA, '--version']), () => cpuOf(command)])
  const after = stampsBelow(directory)
  return { floor, run, changed: [...after].filter((stamp) => !before.has(stamp)).length }
}

/** All files but the lock of the plan. */
function stampsBelow(directory) {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return new Set(
    names
      .filter((name) => !name.startsWith('plan.lock'))
      .map((name) => {
        const { ino, mtimeMs, ctimeMs } = statSync(join(directory, name))
        return `${name} ${ino} ${mtimeMs} ${ctimeMs}`
      }),
  )
}

async function statusOfMany() {
  const directory = await planned(place(), MANY)
  finish(directory)
  const [floor, ours] = await alternate([
    () => cpuOf(['find', directory, '-name', 'result.json', '-exec', 'cat', '{}', '+']),
    () => cpuOf([NODE, DELTA, 'eval', 'status', directory, '--json']),
  ])
  return { floor, ours }
}

async function sharedCells() {
  const worker = (directory) => [NODE, path('evals/work.mjs'), directory, '4']
  const [floor, ours] = await alternate([
    async () => {
      const own = []
      for (let count = 0; count < WORKERS; count++)
        own.push(await planned(place(), { ...CLAIMED, repeats: CLAIMED.repeats / WORKERS }))
      return cpuOf(...own.map(worker))
    },
    async () => {
      const directory = await planned(place(), CLAIMED)
      return cpuOf(...Array.from({ length: WORKERS }, () => worker(directory)))
    },
  ])
  return { floor, ours }
}
