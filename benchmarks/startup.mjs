/**
 * What starting `delta` costs: CPU time (user + system) beside an empty node script.
 *
 *   node benchmarks/startup.mjs [rounds] [--write]        default: 11
 *
 * Every command takes turns with the floor, and its ratio is the median of theirs: absolute times drift, ratios hold. The
 * first start after a build compiles; it is not counted, and shown in a row of its own.
 *
 * Where NODE_EXTRA_CA_CERTS is set, which makes the floor three times as high, a column of its own shows the ratios with it.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startScriptedServer, temporaryAgent } from '../packages/testkit/dist/index.js'
import { certificates } from './certificates.mjs'
import { median, numbers, report } from './report.mjs'

const DELTA = fileURLToPath(new URL('../apps/cli/bin.cjs', import.meta.url))
const AI_SDK = fileURLToPath(new URL('loop/ai-sdk.mjs', import.meta.url))
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

const floor = { argv: () => [empty] }

/** Rows, each with its goal as a multiple of the floor. */
const candidates = {
  'empty node script (the floor)': floor,
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
  'AI SDK 6, one answer over HTTP': { argv: () => [AI_SDK, server.baseUrl, directory, '1'] },
}

const TIMED = `TIMEFORMAT='%R %U %S'; time "$@" >/dev/null`

/** Milliseconds of one process, as bash reports them: the system's own counts per child have ticks of 10 ms. */
async function timesOf({ argv, env }, extra = {}) {
  const { stderr } = await promisify(execFile)('bash', ['-c', TIMED, 'bash', process.execPath, ...argv()], {
    env: { ...process.env, DELTA_API_KEY: 'test-key-not-real', ...env, ...extra },
  })
  const [wall, user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number)
  return { wall: wall * 1000, cpu: (user + system) * 1000 }
}

/**
 * Times two commands in turns, changing in each round which goes first: a machine grows faster and slower within
 * seconds, and both are to have the same share of it.
 */
async function inTurns(one, other, extra) {
  const pairs = []
  for (let round = 0; round < rounds; round++) {
    const [first, second] = round % 2 ? [one, other] : [other, one]
    const times = [await timesOf(first, extra), await timesOf(second, extra)]
    pairs.push(round % 2 ? times : times.toReversed())
  }
  return pairs
}

async function startsTable() {
  const rows = []
  for (const [command, { goal = '', ...candidate }] of Object.entries(candidates)) {
    await timesOf(candidate) // compiles
    const pairs = await inTurns(floor, candidate)
    const cpu = Math.round(median(pairs.map(([, times]) => times.cpu)))
    rows.push({
      command,
      'CPU, ms': cpu,
      '× floor': timesFloor(pairs),
      goal,
      ...(await withCertificates(candidate)),
    })
  }
  return { title: 'Starting `delta`', rows }
}

const timesFloor = (pairs) => median(pairs.map(([base, { cpu }]) => cpu / base.cpu)).toFixed(2)

async function withCertificates(candidate) {
  if (certificates === undefined) return {}
  const pairs = await inTurns(floor, candidate, { NODE_EXTRA_CA_CERTS: certificates })
  return { '× floor, with NODE_EXTRA_CA_CERTS': timesFloor(pairs) }
}

/** Beside runs of the same script without tools. */
async function toolsTable() {
  const [without, many] = [scripted, equipped].map((agent) => ({ argv: () => runOf(agent) }))
  await timesOf(many) // keeps what it has made of the tools
  const pairs = await inTurns(without, many)
  const added = (kind) => Math.round(median(pairs.map(([base, times]) => times[kind] - base[kind])))
  const rows = [{ tools: TOOLS, 'time, ms': added('wall'), 'CPU, ms': added('cpu'), goal: 30 }]
  return { title: 'What tools add to a run, from the second start on', rows }
}

try {
  const starts = await startsTable()
  const rowOf = (name) => starts.rows.find(({ command }) => command === name)
  const run = rowOf('delta run, one answer over HTTP')
  const aiSdk = rowOf('AI SDK 6, one answer over HTTP')
  const tools = await toolsTable()
  report('startup', {
    tables: [starts, tools],
    figures: {
      version: rowOf('delta --version')['× floor'],
      run: run['× floor'],
      ai_sdk: (run['CPU, ms'] / aiSdk['CPU, ms']).toFixed(2),
      tools_ms: tools.rows[0]['time, ms'],
    },
  })
} finally {
  await Promise.all([server, scripted, remote, equipped].map((held) => held[Symbol.asyncDispose]()))
  rmSync(directory, { recursive: true, force: true })
}
