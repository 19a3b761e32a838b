/**
 * What loading an agent costs: 200 tools in 20 imported files, beside `yaml.parse` of the same text.
 *
 *   node benchmarks/config.mjs [rounds] [--write]
 *
 * CPU time of all threads, median of alternations: warm in one process; the first time in a fresh one, where most of it is
 * the machine compiling what it runs; and fresh processes as a whole, imports included.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, numbers, report } from './report.mjs'

const loader = new URL('../packages/config-loader/', import.meta.url)
const yamlPath = new URL('node_modules/yaml/dist/index.js', loader).href
const loaderPath = new URL('dist/index.js', loader).href

const [rounds = 15] = numbers()
const directory = mkdtempSync(join(tmpdir(), 'delta-bench-config-'))
const FILES = 20
const TOOLS = 10
const WARM_UP = 40

function tool(file, index) {
  const name = `tool_${file}_${index}`
  const run =
    index % 2 === 0
      ? `exec: "grep -rn \${pattern} \${directory}"`
      : `shell: "cat \${file} | head -n \${count}"`
  return `  - name: ${name}\n    description: Searches what number ${index} of file ${file} is about.\n    ${run}\n    timeout_ms: 5000\n`
}

mkdirSync(join(directory, 'tools'))
const paths = Array.from({ length: FILES }, (_, file) => join(directory, `tools/${file}.yaml`))
for (const [file, path] of paths.entries()) {
  writeFileSync(path, `tools:\n${Array.from({ length: TOOLS }, (_, index) => tool(file, index)).join('')}`)
}
writeFileSync(join(directory, 'system_prompt.md'), 'You search.\n')
writeFileSync(
  join(directory, 'agent.yaml'),
  `name: bench\nllm: { model: m }\nimports:\n${paths.map((_, file) => `  - tools/${file}.yaml\n`).join('')}`,
)
writeFileSync(
  join(directory, 'context.yaml'),
  "sources:\n  - { type: file, path: '${AGENT_HOME}/system_prompt.md' }\n  - { type: journal }\n",
)

/** CPU time, user and system. */
async function cpuMs(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** What one process says of itself: its whole CPU time, or that of `work` alone after its imports. */
function processMs(imports, work, { alone = false } = {}) {
  const start = alone ? 'const before = process.cpuUsage();' : 'const before = undefined;'
  const program = `${imports}; ${start} ${work}; const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }))
}

try {
  const { parse } = await import(yamlPath)
  const { loadAgent } = await import(loaderPath)
  const parseAll = () => paths.map((path) => parse(readFileSync(path, 'utf8')))
  const load = () => loadAgent(directory, { env: {} })
  const programs = {
    empty: ['', ''],
    parse: [
      `const { parse } = await import('${yamlPath}'); const { readFileSync } = await import('node:fs')`,
      `for (const path of ${JSON.stringify(paths)}) parse(readFileSync(path, 'utf8'))`,
    ],
    load: [
      `const { loadAgent } = await import('${loaderPath}')`,
      `await loadAgent('${directory}', { env: {} })`,
    ],
  }
  const figures = {
    parse: { warm: [], first: [], whole: [] },
    load: { warm: [], first: [], whole: [] },
    empty: { whole: [] },
  }
  for (let round = -WARM_UP; round < rounds; round++) {
    const parsed = await cpuMs(parseAll)
    const loaded = await cpuMs(load)
    if (round < 0) continue
    figures.parse.warm.push(parsed)
    figures.load.warm.push(loaded)
    for (const [name, program] of Object.entries(programs)) figures[name].whole.push(processMs(...program))
    for (const name of ['parse', 'load'])
      figures[name].first.push(processMs(...programs[name], { alone: true }))
  }
  const times = (name, kind) => (median(figures[name][kind]) / median(figures.parse[kind])).toFixed(2)
  const row = (what, name) => ({
    what,
    'warm, ms': median(figures[name].warm).toFixed(1),
    '× yaml.parse': times(name, 'warm'),
    'first in a process, ms': median(figures[name].first).toFixed(0),
    'first, × yaml.parse': times(name, 'first'),
    'whole process, ms': median(figures[name].whole).toFixed(0),
    'whole, × empty': (median(figures[name].whole) / median(figures.empty.whole)).toFixed(2),
  })
  const rows = [row('`yaml.parse` of the files (the floor)', 'parse'), row('`loadAgent`', 'load')]
  report('config', { tables: [{ title: 'Loading 200 tools from 20 files', rows }] })
} finally {
  rmSync(directory, { recursive: true, force: true })
}
