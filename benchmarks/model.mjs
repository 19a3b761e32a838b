/**
 * What asking a model costs: one request from a fresh process, and each further one, beside `node:http` by hand.
 *
 *   node benchmarks/model.mjs [rounds] [--write]
 *
 * Every figure is CPU time (user + system), the median of alternations in this one run. The programs are bundled as the
 * command line is: what counts is the code that runs, not the files that are looked up.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { startScriptedServer } from '../packages/testkit/dist/index.js'
import './certificates.mjs'
import { median, numbers, report } from './report.mjs'

const [rounds = 9] = numbers()
const REQUESTS = 300
const PROGRAMS = {
  empty: 'empty program',
  http: 'node:http by hand (the floor)',
  fetch: 'fetch by hand',
  openai: 'the openai client as it comes',
  delta: '@delta/model/openai',
}

const names = Object.keys(PROGRAMS)
const model = fileURLToPath(new URL('../packages/model', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'delta-bench-model-'))

async function bundle() {
  await build({
    entry: Object.fromEntries(
      names.map((name) => [name, fileURLToPath(new URL(`model/${name}.mjs`, import.meta.url))]),
    ),
    outDir: directory,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outExtension: () => ({ js: '.mjs' }),
    minify: true,
    silent: true,
    config: false,
    noExternal: [/.*/],
    esbuildOptions: (options) => {
      options.nodePaths = [join(model, 'node_modules')]
      options.alias = { '@delta/model/openai': join(model, 'dist/openai.js') }
    },
  })
}

function cpuMs(name, baseUrl, count) {
  const argv = [join(directory, `${name}.mjs`), baseUrl, String(count)]
  return Number(execFileSync(process.execPath, argv, { encoding: 'utf8' }))
}

/** One list of figures for each program; the programs take turns, so that drift hits all of them alike. */
function alternate(baseUrl, count) {
  const figures = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) figures[name].push(cpuMs(name, baseUrl, count))
  }
  return figures
}

try {
  await bundle()
  const server = await startScriptedServer([{ content: 'Hello.' }])
  const once = alternate(server.baseUrl, 1)
  const often = alternate(server.baseUrl, REQUESTS + 1)
  await server.close()

  const first = Object.fromEntries(names.map((name) => [name, median(once[name])]))
  const further = (name) => (median(often[name]) - first[name]) / REQUESTS
  const rows = names.map((name) => ({
    program: PROGRAMS[name],
    'first request, ms': first[name].toFixed(1),
    '× empty': (first[name] / first.empty).toFixed(2),
    'further request, ms': name === 'empty' ? '' : further(name).toFixed(3),
    '× floor': name === 'empty' ? '' : (further(name) / further('http')).toFixed(2),
  }))
  report('model', { tables: [{ title: 'Asking a model', rows }] })
} finally {
  rmSync(directory, { recursive: true, force: true })
}
