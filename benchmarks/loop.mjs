/**
 * What an iteration costs: whole runs of `echo`, the command line beside a hand-written durable loop without recovery, beside
 * the same loop with our records, beside two frameworks that keep nothing and, with `--peers`, beside one that keeps its state.
 *
 *   node benchmarks/loop.mjs [rounds] [--growth] [--peers] [--write]
 *
 * CPU time is that of the engine's own process; children are the same in all. Alternating, medians of the rounds
 * (default 9). `--growth` also runs up to 1,000 iterations, which takes minutes. `--peers` measures LangGraph, too, and
 * installs it into `peers/` the first time. A figure that was not asked for is written as "not measured".
 */
import { compare, compareLengths } from './loop/compare.mjs'
import { installPeers } from './loop/install-peers.mjs'
import { NAMES } from './loop/programs.mjs'
import { numbers, report } from './report.mjs'

const ITERATIONS = 300
const GROWTH = [10, 100, 500, 1000]
/** Figures that only `--peers` and `--growth` measure; until then their goals are not reached. */
const ON_REQUEST = [
  'langgraph',
  'disk_langgraph',
  'growth',
  'window_growth',
  'memory_1000',
  'memory_ai_sdk',
  'files_an_iteration',
]
const { floor, recordingFloor, delta, window, aiSdk, openAiAgents, langGraph } = NAMES
const [rounds = 9] = numbers()

/** @param {boolean} peers whether LangGraph is there to be measured */
async function wholeRuns(peers) {
  const programs = [floor, recordingFloor, delta, window, aiSdk, openAiAgents, ...(peers ? [langGraph] : [])]
  const measured = await compare(ITERATIONS, Object.fromEntries(programs.map((name) => [name, rounds])))
  const part = (key, of) => measured[delta][key] / measured[of][key]
  const rows = programs.map((program) => {
    const { cpuMs, rssMb, diskMb, files } = measured[program]
    return {
      program,
      'CPU, ms an iteration': (cpuMs / ITERATIONS).toFixed(2),
      '× floor': (cpuMs / measured[floor].cpuMs).toFixed(2),
      'peak memory, MB': Math.round(rssMb),
      'on disk, MB': diskMb === 0 ? 'none' : diskMb.toFixed(2),
      files: files === 0 ? 'none' : files,
      ...(peers && { 'disk × delta': diskMb === 0 ? 'none' : (1 / part('diskMb', program)).toFixed(2) }),
    }
  })
  const figures = {
    iterations: ITERATIONS,
    ratio: part('cpuMs', floor).toFixed(2),
    recording_floor: (measured[recordingFloor].cpuMs / measured[floor].cpuMs).toFixed(2),
    over_records: part('cpuMs', recordingFloor).toFixed(2),
    ai_sdk: part('cpuMs', aiSdk).toFixed(3),
    memory_mb: Math.round(measured[delta].rssMb),
    disk_mb: measured[delta].diskMb.toFixed(2),
    ...(peers && {
      langgraph: part('cpuMs', langGraph).toFixed(3),
      disk_langgraph: part('diskMb', langGraph).toFixed(5),
    }),
  }
  return { tables: [{ title: `Runs of ${ITERATIONS} iterations`, rows }], figures }
}

/** What one more iteration of a long run costs, against one of a short one. */
async function growth() {
  const [ten, hundred, fiveHundred, thousand] = GROWTH
  // AI SDK is here for its memory alone. What it costs grows with the square, so it runs once.
  const taking = { [floor]: rounds, [delta]: rounds, [window]: rounds, [aiSdk]: 1 }
  const runs = await compareLengths(GROWTH, taking)
  const per = (key, from, to) => (name) => (runs.get(to)[name][key] - runs.get(from)[name][key]) / (to - from)
  const early = (key) => per(key, ten, hundred)
  const late = (key) => per(key, fiveHundred, thousand)
  const grown = (key, name) => late(key)(name) / early(key)(name)
  const longest = runs.get(thousand)
  const rows = Object.entries(longest).map(([program, { rssMb, diskMb }]) => ({
    program,
    '10 to 100, ms': early('cpuMs')(program).toFixed(2),
    '500 to 1000, ms': late('cpuMs')(program).toFixed(2),
    growth: grown('cpuMs', program).toFixed(2),
    'memory at 1000, MB': Math.round(rssMb),
    'on disk at 1000, MB': diskMb === 0 ? 'none' : diskMb.toFixed(2),
    'growth on disk': diskMb === 0 ? 'none' : grown('diskMb', program).toFixed(2),
  }))
  const figures = {
    growth: grown('cpuMs', delta).toFixed(3),
    window_growth: grown('cpuMs', window).toFixed(3),
    memory_1000: longest[delta].rssMb.toFixed(1),
    memory_ai_sdk: (longest[delta].rssMb / longest[aiSdk].rssMb).toFixed(3),
    files_an_iteration: late('files')(delta).toFixed(2),
  }
  return { tables: [{ title: 'What one more iteration costs; AI SDK measured once', rows }], figures }
}

const measured = [await wholeRuns(process.argv.includes('--peers') && installPeers())]
if (process.argv.includes('--growth')) measured.push(await growth())
report('loop', {
  tables: measured.flatMap(({ tables }) => tables),
  figures: Object.assign(
    Object.fromEntries(ON_REQUEST.map((figure) => [figure, 'not measured'])),
    ...measured.map(({ figures }) => figures),
  ),
})
