/**
 * What starting `delta` costs: CPU time (user + system) beside an empty node script.
 *
 *   node benchmarks/startup.mjs [--json] [--rounds=11]
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

const DELTA = fileURLToPath(new URL('../apps/cli/bin.cjs', import.meta.url))
const HELLO = fileURLToPath(new URL('../examples/1-basics/hello-world', import.meta.url))
const rounds = Number(/--rounds=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 11)
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

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]
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
    'CPU ms': Math.round(median(values)),
    '× floor': Number((median(values) / floor).toFixed(2)),
    goal: candidates[name].goal ?? '',
  }))
  const header = Object.keys(rows[0])
  const lines = [header, header.map(() => '---'), ...rows.map(Object.values)]
  console.log(`\nStart-up, node ${process.version}\n`)
  console.log(lines.map((line) => `| ${line.join(' | ')} |`).join('\n'))
  if (process.argv.includes('--json')) console.log(JSON.stringify(rows))
} finally {
  await Promise.all([server, scripted, remote].map((held) => held[Symbol.asyncDispose]()))
  rmSync(directory, { recursive: true, force: true })
}
