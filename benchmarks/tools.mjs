/**
 * What running a command costs: `runCommand` and `executeTool` beside a bare spawn and execa.
 *
 *   node --expose-gc benchmarks/tools.mjs [--write]
 *
 * Every figure is the median of alternations in this one run: absolute times drift, ratios hold.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { defineTool, executeTool, runCommand } from '../packages/executor/dist/index.js'
import { redactPatterns } from '../packages/tool-expander/dist/internal.js'
import { median, report } from './report.mjs'

const directory = mkdtempSync(join(tmpdir(), 'delta-bench-tools-'))
const env = { ...process.env }
const options = { cwd: directory, env }
const MEGABYTE = 1024 * 1024

async function bare(stdio) {
  const child = spawn('true', [], { ...options, stdio })
  child.stdout?.resume()
  child.stderr?.resume()
  await once(child, 'close')
}

const tools = [defineTool({ name: 'nothing', exec: 'true' })]
const call = { name: 'nothing', arguments: '{}' }
let executed = 0
const context = () => ({
  cwd: directory,
  env,
  outputPrefix: join(directory, `record${executed++}`),
})

const spawns = {
  'bare spawn, no streams (the floor)': () => bare('ignore'),
  'bare spawn, piped': () => bare('pipe'),
  runCommand: () => runCommand(['true'], options),
  executeTool: () => executeTool(tools, call, context()),
  execa: () => execa('true', options),
}

/** CPU of this process and of its ended children, which the system counts in ticks of 10 ms. */
function cpuMs() {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
}

async function batch(count, atOnce, run) {
  const cpuBefore = cpuMs()
  const start = performance.now()
  let left = count
  const worker = async () => {
    while (left-- > 0) await run()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return { wall: (performance.now() - start) / count, cpu: (cpuMs() - cpuBefore) / count }
}

function medianOf(samples, key) {
  return median(samples.map((sample) => sample[key]))
}

async function alternate(candidates, rounds, measure) {
  const results = new Map(Object.keys(candidates).map((name) => [name, []]))
  for (const run of Object.values(candidates)) await measure(run)
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(candidates)) results.get(name).push(await measure(run))
  }
  return results
}

async function spawnTable() {
  const measured = await alternate(spawns, 11, (run) => batch(200, 8, run))
  const [floor, piped] = [...measured.values()]
  const ratio = (samples, base, key) => (medianOf(samples, key) / medianOf(base, key)).toFixed(2)
  const rows = [...measured].map(([name, samples]) => ({
    command: name,
    'wall, ms': medianOf(samples, 'wall').toFixed(2),
    'CPU, ms': medianOf(samples, 'cpu').toFixed(2),
    'wall × floor': ratio(samples, floor, 'wall'),
    'CPU × floor': ratio(samples, floor, 'cpu'),
    'wall × piped': ratio(samples, piped, 'wall'),
    'CPU × piped': ratio(samples, piped, 'cpu'),
  }))
  return { title: 'A command that does nothing, 8 at once', rows }
}

const PRINTER = ['head', '-c', '200000000', '/dev/zero']

async function redirect() {
  const target = openSync(join(directory, 'output'), 'w')
  const child = spawn(PRINTER[0], PRINTER.slice(1), { ...options, stdio: ['ignore', target, 'ignore'] })
  await once(child, 'exit')
  closeSync(target)
}

const passOn = { push: (chunk) => chunk, end: () => Buffer.alloc(0) }
const stdoutPath = join(directory, 'output')
const outputs = {
  'redirect to a file (the floor)': redirect,
  runCommand: () => runCommand(PRINTER, { ...options, stdoutPath }),
  'runCommand with a filter': () => runCommand(PRINTER, { ...options, stdoutPath, filter: () => passOn }),
  execa: () =>
    execa(PRINTER[0], PRINTER.slice(1), { ...options, maxBuffer: 300_000_000, encoding: 'buffer' }),
}

/** Wall time, and how far the resident memory rose meanwhile. */
async function outputOnce(run) {
  rmSync(stdoutPath, { force: true })
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let peak = before
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  const watch = setInterval(look, 5)
  const start = performance.now()
  await run()
  const wall = performance.now() - start
  clearInterval(watch)
  look()
  return { wall, rise: (peak - before) / MEGABYTE }
}

async function outputTable(title) {
  const measured = await alternate(outputs, 9, outputOnce)
  const [floor] = [...measured.values()]
  const rows = [...measured].map(([name, samples]) => ({
    command: name,
    'wall, ms': medianOf(samples, 'wall').toFixed(0),
    'throughput ÷ floor': (medianOf(floor, 'wall') / medianOf(samples, 'wall')).toFixed(2),
    'rise of memory, MB': Math.max(...samples.map((sample) => sample.rise)).toFixed(0),
  }))
  return { title, rows }
}

const HOSTILE = [
  'sk-',
  'eyJaaaaaaaaaa.',
  '://a:',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  'A',
]

function redactionTable() {
  const rows = HOSTILE.map((unit) => {
    const text = unit.repeat(10_000_000 / unit.length)
    const start = performance.now()
    redactPatterns(text)
    return { 'again and again': `\`${unit}\``, 'ms for 10 MB': (performance.now() - start).toFixed(0) }
  })
  return { title: 'Looking for secret-like text in 10 MB made to be slow', rows }
}

try {
  const tables = [
    redactionTable(),
    await spawnTable(),
    await outputTable('200 MB of stdout, from a small heap'),
  ]
  const ballast = Array.from({ length: 500 }, () => Buffer.alloc(MEGABYTE, 1))
  tables.push(await outputTable(`200 MB of stdout, with ${ballast.length} MB resident`))
  const [nothing] = tables[1].rows.filter(({ command }) => command === 'executeTool')
  report('tools', {
    tables,
    figures: { spawn_wall: nothing['wall × piped'], spawn_cpu: nothing['CPU × piped'] },
  })
} finally {
  rmSync(directory, { recursive: true, force: true })
}
