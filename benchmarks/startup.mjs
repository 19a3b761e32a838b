/**
 * What starting `delta` costs: CPU time (user + system) beside an empty node script.
 *
 *   node benchmarks/startup.mjs [rounds] [--write]        default: 11
 *
 * Every figure is the median of alternations in this one run: absolute times drift, ratios hold. The first start after a
 * build compiles; it is not counted, and shown in a row of its own. The floor depends on the environment it is measured
 * in: NODE_EXTRA_CA_CERTS alone can treble it.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startScriptedServer, temporaryAgent } from '../packages/testkit/dist/index.js'
import { median, numbers, report } from './report.mjs'

const DELTA = fileURLToPath(new URL('../apps/cli/bin.cjs', import.meta.url))
const HELLO = fileURLToPath(new URL('../examples/1-basics/hello-world', import.meta.url))
const [rounds = 11] = numbers()
const directory = mkdtempSync(join(tmpdir(), 'delta-bench-startup-'))
const empty = join(directory, 'empty.js')
writeFileSync(empty, '')
const server = await startScriptedServer([{ content: 'Done.' }])
const scripted = await temporaryAgent({ turns: [{ content: 'Done.' }] })
const remote = await temporaryAgent({ baseUrl: server.baseUrl })
let runs = 0

function runOf(agent) {
  return [DELTA, 'run', '--agent', agent.path, '-m', 'Go', '-q', '-w', join(directory, `w${runs++}`)]
}

/** Rows, each with its goal as a multiple of the floor. */
const candidates = {
  'empty node script (the floor)': { argv: () => [empty] },
  'delta --version': { argv: () => [DELTA, '--version'], goal: 1.1 },
  'delta --help': { argv: () => [DELTA, '--help'] },
  'delta list-runs': { argv: () => [DELTA, 'list-runs', '-w', directory] },
  'delta tool expand': { argv: () => [DELTA, 'tool', 'expand', HELLO], goal: 1.5 },
  'delta run, one answer of a script': { argv: () => runOf(scripted), goal: 2 },
  'delta run, one answer over HTTP': { argv: () => runOf(remote), goal: 2 },
  'delta tool expand, nothing compiled before': {
    argv: () => [DELTA, 'tool', 'expand', HELLO],
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
  },
}

const TIMED = `TIMEFORMAT='%U %S'; time "$@" >/dev/null`

/** Milliseconds of CPU of one process, as bash reports it: the system's own counts per child have ticks of 10 ms. */
async function cpuMs({ argv, env }) {
  const { stderr } = await promisify(execFile)('bash', ['-c', TIMED, 'bash', process.execPath, ...argv()], {
    env: { ...process.env, DELTA_API_KEY: 'test-key-not-real', ...env },
  })
  const [user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number)
  return (user + system) * 1000
}

try {
  const samples = new Map(Object.keys(candidates).map((name) => [name, []]))
  for (const candidate of Object.values(candidates)) await cpuMs(candidate)
  for (let round = 0; round < rounds; round++) {
    for (const [name, candidate] of Object.entries(candidates)) samples.get(name).push(await cpuMs(candidate))
  }
  const floor = median(samples.values().next().value)
  const rows = [...samples].map(([name, values]) => ({
    command: name,
    'CPU, ms': Math.round(median(values)),
    '× floor': (median(values) / floor).toFixed(2),
    goal: candidates[name].goal ?? '',
  }))
  const ratioOf = (name) => rows.find(({ command }) => command === name)['× floor']
  report('startup', {
    tables: [{ title: 'Starting `delta`', rows }],
    figures: { version: ratioOf('delta --version'), run: ratioOf('delta run, one answer over HTTP') },
  })
} finally {
  await Promise.all([server, scripted, remote].map((held) => held[Symbol.asyncDispose]()))
  rmSync(directory, { recursive: true, force: true })
}
