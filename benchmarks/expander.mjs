/**
 * What compiling a tool and binding a call cost, beside a template replacement written by hand.
 *
 *   node benchmarks/expander.mjs [--write]
 *
 * The floor replaces `${name}` in the words of a split template: no quoting, no checks, nothing refused.
 * Every figure is the median of alternations in this one run: absolute times drift, ratios hold. The last row is what 200
 * tools add to a process that has just started and loaded the package: how much later it is done, and the CPU time of all
 * its threads.
 */
import { spawnSync } from 'node:child_process'
import { bindArguments, expandTool } from '../packages/tool-expander/dist/index.js'
import { median, report } from './report.mjs'

const TOOLS = 1_000
const CALLS = 100_000
const ROUNDS = 9

const TEMPLATES = [
  ['exec', 'rg --max-count=${max} -- ${pattern} ${file}'],
  ['exec', 'convert "${file}" --name=${pattern} ${max}'],
  ['shell', 'grep -n -- ${pattern} ${file} | head -n ${max}'],
  [
    'shell',
    'set -e\ncat <<EOF\nSearching "${pattern}"\nEOF\nif [ -f ${file} ]; then awk -v m=${max} \'NR <= m\' ${file}; fi',
  ],
]
const definitions = Array.from({ length: TOOLS }, (_, index) => {
  const [mode, template] = TEMPLATES[index % TEMPLATES.length]
  return { name: `tool_${index}`, description: 'A tool', [mode]: template }
})
const args = { pattern: 'a "quoted" $(pattern)', file: 'some file.txt', max: '20' }
const variables = { AGENT_HOME: '/agent', CWD: '/work' }

const splitByHand = ({ exec, shell }) => (exec === undefined ? ['sh', '-c', shell] : exec.split(' '))
const replaceByHand = (words) => words.map((word) => word.replace(/\$\{(\w+)\}/g, (_, name) => args[name]))

const handWritten = definitions.map(splitByHand)
const expanded = definitions.map(expandTool)

const rows = [
  [
    'load a tool',
    TOOLS,
    () => definitions.map(splitByHand),
    () => definitions.map((definition) => expandTool(definition)),
  ],
  [
    'bind a call',
    CALLS,
    () => repeat(CALLS, (index) => replaceByHand(handWritten[index % TOOLS])),
    () => repeat(CALLS, (index) => bindArguments(expanded[index % TOOLS], args, { variables })),
  ],
]

function repeat(count, work) {
  for (let index = 0; index < count; index++) work(index)
}

function seconds(work) {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

const measured = rows.map(([what, count, floor, ours]) => {
  const times = Array.from({ length: ROUNDS }, () => [seconds(floor), seconds(ours)])
  const [floorSeconds, oursSeconds] = [0, 1].map((column) => median(times.map((row) => row[column])))
  return {
    what,
    'floor, µs': ((floorSeconds / count) * 1e6).toFixed(1),
    'ours, µs': ((oursSeconds / count) * 1e6).toFixed(1),
    'ours in a second': Math.round(count / oursSeconds).toLocaleString('en'),
  }
})

const COLD_TOOLS = 200

/** What loading so many tools takes in a process of its own, in milliseconds. */
function loadCold() {
  const program = `
    const { expandTool } = await import(${JSON.stringify(new URL('../packages/tool-expander/dist/index.js', import.meta.url).href)})
    const definitions = ${JSON.stringify(definitions.slice(0, COLD_TOOLS))}
    const [start, cpu] = [performance.now(), process.cpuUsage()]
    for (const definition of definitions) expandTool(definition)
    const time = performance.now() - start
    const { user, system } = process.cpuUsage(cpu)
    console.log(JSON.stringify({ time, cpu: (user + system) / 1000 }))`
  const argv = ['--input-type=module', '-e', program]
  return JSON.parse(spawnSync(process.execPath, argv, { encoding: 'utf8' }).stdout)
}

const cold = Array.from({ length: 2 * ROUNDS }, loadCold)
const coldMs = (key) => Number(median(cold.map((run) => run[key])).toFixed(1))
const coldRow = {
  what: `${COLD_TOOLS} tools in a new process`,
  'time, ms': coldMs('time'),
  'CPU, ms': coldMs('cpu'),
}

report('expander', {
  tables: [
    { title: 'Compiling tools and binding calls', rows: measured },
    { title: 'What tools add to a start', rows: [coldRow] },
  ],
  figures: {
    bind_us: measured[1]['ours, µs'],
    cold_ms: coldRow['time, ms'],
    cold_cpu_ms: coldRow['CPU, ms'],
  },
})
