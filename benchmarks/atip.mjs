/**
 * What compiling a large description costs, whether the number of tools shows in one call, and what redaction costs.
 *
 *   node benchmarks/atip.mjs [--write]
 *
 * Compiling is measured cold, in a process of its own, as a program meets it: the floor is `JSON.parse` of the same text,
 * in such a process too. A call is looked up, checked, judged and made into a command line; its floor is the same with one
 * tool. The floor of redaction is one pattern that finds nothing. All figures are milliseconds of the main thread, medians
 * of alternations; without `/proc`, of the whole process, which compiles and collects garbage beside it.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compileTools } from '../packages/atip/dist/index.js'
import { buildCommandArray, createExecutor, formatResult } from '../packages/atip-execute/dist/index.js'
import { median, report } from './report.mjs'

const LEAVES = 10_000
const CALLS = 20_000
const ROUNDS = 7
const POLICY = { allowDestructive: true, minTrustLevel: 'org' }

function describe(leaves) {
  const groups = Object.fromEntries(
    Array.from({ length: leaves / 100 }, (_, group) => [`g${group}`, groupOf(group)]),
  )
  const option = { name: 'repo', flags: ['--repo'], type: 'string', description: 'Repository' }
  const trust = { source: 'org' }
  const root = {
    atip: '0.6',
    name: 'box',
    version: '1.0.0',
    description: 'A box',
    trust,
    effects: { network: false },
  }
  return { ...root, globalOptions: [option], commands: groups }
}

function groupOf(group) {
  const commands = Array.from({ length: 100 }, (_, index) => [`c${index}`, commandOf(group, index)])
  return { description: `Group ${group}`, effects: { network: true }, commands: Object.fromEntries(commands) }
}

function commandOf(group, index) {
  return {
    description: `Does thing ${index} of group ${group}`,
    arguments: [
      { name: 'file', type: 'file', description: 'The file' },
      { name: 'rest', type: 'string', description: 'More', required: false, variadic: true },
    ],
    options: [
      { name: 'force', flags: ['-f', '--force'], type: 'boolean', description: 'Force it' },
      { name: 'format', flags: ['--format'], type: 'enum', enum: ['json', 'text'], description: 'Format' },
    ],
    effects: {
      destructive: index % 10 === 0,
      filesystem: { read: true, write: index % 2 === 0 },
      idempotent: true,
    },
  }
}

function cpuMs(work) {
  const start = usedMs()
  work()
  return usedMs() - start
}

function usedMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    const { user, system } = process.cpuUsage() // not on Linux
    return (user + system) / 1000
  }
}

/** In a process of its own: what `work` costs the first time. */
function cold(what) {
  return Number(
    execFileSync(process.execPath, [fileURLToPath(import.meta.url), '--cold', what], { encoding: 'utf8' }),
  )
}

function runCold(what) {
  const text = JSON.stringify(describe(LEAVES))
  if (what === 'floor') return cpuMs(() => JSON.parse(text))
  const tool = JSON.parse(text)
  return cpuMs(() => compileTools([tool], 'openai'))
}

/** Everything about calls but running them. */
function caller(leaves) {
  const executor = createExecutor({ tools: [describe(leaves)], policy: POLICY })
  const call = { id: '1', name: 'box_g0_c10', arguments: { file: 'a.txt', rest: ['b', 'c'], force: true } }
  return () => {
    for (let index = 0; index < CALLS; index++) {
      const { normalizedArgs } = executor.validate(call)
      if (!executor.checkPolicy(call).allowed) throw new Error('the call is allowed')
      buildCommandArray(executor.mapCommand(call.name), normalizedArgs)
    }
  }
}

const LINE =
  'drwxr-xr-x  2 ada staff 4096 Jan  1 12:00 some-directory/with_a-name and text that is no secret\n'
const OUTPUT = LINE.repeat(Math.ceil(10_485_760 / LINE.length))
const RESULT = { success: true, exitCode: 0, stdout: OUTPUT, stderr: '', truncated: false, timedOut: false }

if (process.argv[2] === '--cold') console.log(runCold(process.argv[3]))
else {
  const [one, many] = [caller(100), caller(LEAVES)]
  const tool = describe(LEAVES)
  const text = JSON.stringify(tool)
  const rows = [
    ['compile all for a provider, cold', () => cold('floor'), () => cold('ours')],
    [
      'compile all for a provider, again',
      () => cpuMs(() => JSON.parse(text)),
      () => cpuMs(() => compileTools([tool], 'openai')),
    ],
    ['20,000 calls: of 100 commands, of 10,000', () => cpuMs(one), () => cpuMs(many)],
    [
      'redact 10 MB of output',
      () => cpuMs(() => OUTPUT.replace(/no such text/g, '')),
      () => cpuMs(() => formatResult(RESULT)),
    ],
  ]
  const measured = rows.map(([what, floor, ours]) => {
    const times = Array.from({ length: ROUNDS }, () => [floor(), ours()])
    const [floorMs, oursMs] = [0, 1].map((column) => median(times.map((row) => row[column])))
    return {
      what,
      'floor, ms': Math.round(floorMs),
      'ours, ms': Math.round(oursMs),
      '× floor': (oursMs / floorMs).toFixed(2),
    }
  })
  report('atip', {
    tables: [
      {
        title: `A description of ${LEAVES.toLocaleString('en')} commands (goal: compiled in 200 ms)`,
        rows: measured,
      },
    ],
    figures: { compile_cold_ms: measured[0]['ours, ms'] },
  })
}
