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
const TOOLS = 200
const equipped = await temporaryAgent({
  turns: [{ content: 'Done.' }],
  tools: Array.from({ length: TOOLS }, toolOf),
})
let runs = 0

function runOf(agent) {
  return [DELTA, 'run', '--agent', agent.path, '-m', 'Go', '-q', '-w', join(directory, `w${runs++}`)]
}

/** Four kinds of tools, as people write them. */
function toolOf(_, index) {
  const templates = [
    { exec: 'rg --max-count=${max} -- ${pattern} ${file}' },
    { exec: 'convert "${file}" --name=${pattern} ${max}' },
    { shell: 'grep -n -- ${pattern} ${file} | head -n ${max}' },
    { shell: 'cat ${file} | head -n ${max}' },
  ]
  const description = `Searches what number ${index} is about.`
  return { name: `tool_${index}`, description, ...templates[index % templates.length], timeout_ms: 5000 }
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

const TIMED = `TIMEFORMAT='%R %U %S'; time "$@" >/dev/null`

/** Milliseconds of one process, as bash reports them: the system's own counts per child have ticks of 10 ms. */
async function timesOf({ argv, env }) {
  const { stderr } = await promisify(execFile)('bash', ['-c', TIMED, 'bash', process.execPath, ...argv()], {
    env: { ...process.env, DELTA_API_KEY: 'test-key-not-real', ...env },
  })
  const [wall, user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number)
  return { wall: wall * 1000, cpu: (user + system) * 1000 }
}

/** In each round beside a run of the same script without tools, in turns with it. */
async function toolsTable() {
  const added = { wall: [], cpu: [] }
  const [without, many] = [scripted, equipped].map((agent) => ({ argv: () => runOf(agent) }))
  await timesOf(many) // keeps what it has made of the tools
  for (let round = 0; round < rounds; round++) {
    const [base, times] = [await timesOf(without), await timesOf(many)]
    for (const kind of ['wall', 'cpu']) added[kind].push(times[kind] - base[kind])
  }
  const rows = [
    {
      tools: TOOLS,
      'time, ms': Math.round(median(added.wall)),
      'CPU, ms': Math.round(median(added.cpu)),
      goal: 30,
    },
  ]
  return { title: 'What tools add to a run, from the second start on', rows }
}

try {
  const samples = new Map(Object.keys(candidates).map((name) => [name, []]))
  for (const candidate of Object.values(candidates)) await timesOf(candidate)
  for (let round = 0; round < rounds; round++) {
    for (const [name, candidate] of Object.entries(candidates))
      samples.get(name).push((await timesOf(candidate)).cpu)
  }
  const floor = median(samples.values().next().value)
  const rows = [...samples].map(([name, values]) => ({
    command: name,
    'CPU, ms': Math.round(median(values)),
    '× floor': (median(values) / floor).toFixed(2),
    goal: candidates[name].goal ?? '',
  }))
  const ratioOf = (name) => rows.find(({ command }) => command === name)['× floor']
  const tools = await toolsTable()
  report('startup', {
    tables: [{ title: 'Starting `delta`', rows }, tools],
    figures: {
      version: ratioOf('delta --version'),
      run: ratioOf('delta run, one answer over HTTP'),
      tools_ms: tools.rows[0]['time, ms'],
    },
  })
} finally {
  await Promise.all([server, scripted, remote, equipped].map((held) => held[Symbol.asyncDispose]()))
  rmSync(directory, { recursive: true, force: true })
}
