/**
 * What loading an agent costs: 200 tools in 20 imported files, beside `yaml.parse` of the same text.
 *
 *   node benchmarks/config.mjs [rounds] [--write]
 *
 * Median of alternations in one process, after a warm-up and, separately, in a fresh process with all its imports.
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

/** CPU time of a whole process. */
function processMs(code) {
  const program = `${code}; const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }))
}

try {
  const { parse } = await import(yamlPath)
  const { loadAgent } = await import(loaderPath)
  const parseAll = () => paths.map((path) => parse(readFileSync(path, 'utf8')))
  const load = () => loadAgent(directory, { environment: {} })
  const inFresh = {
    empty: '',
    parse: `const { parse } = await import('${yamlPath}'); const { readFileSync } = await import('node:fs'); for (const path of ${JSON.stringify(paths)}) parse(readFileSync(path, 'utf8'))`,
    load: `const { loadAgent } = await import('${loaderPath}'); await loadAgent('${directory}', { environment: {} })`,
  }
  const figures = { parse: [], load: [], fresh: { empty: [], parse: [], load: [] } }
  for (let round = -3; round < rounds; round++) {
    const parsed = await cpuMs(parseAll)
    const loaded = await cpuMs(load)
    if (round < 0) continue
    figures.parse.push(parsed)
    figures.load.push(loaded)
    for (const [name, code] of Object.entries(inFresh)) figures.fresh[name].push(processMs(code))
  }
  const floor = median(figures.parse)
  const row = (what, warm, fresh) => ({
    what,
    'warm, ms': warm === undefined ? '' : warm.toFixed(1),
    '× yaml.parse': warm === undefined ? '' : (warm / floor).toFixed(2),
    'fresh process, ms': fresh.toFixed(0),
    'above empty, ms': (fresh - median(figures.fresh.empty)).toFixed(0),
  })
  const rows = [
    row('empty process', undefined, median(figures.fresh.empty)),
    row('`yaml.parse` of the files (the floor)', floor, median(figures.fresh.parse)),
    row('`loadAgent`', median(figures.load), median(figures.fresh.load)),
  ]
  report('config', { tables: [{ title: 'Loading 200 tools from 20 files', rows }] })
} finally {
  rmSync(directory, { recursive: true, force: true })
}
