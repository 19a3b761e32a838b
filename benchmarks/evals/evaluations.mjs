// Evaluations that `evals.mjs` measures, and how it times programs that work on them.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { planEval, readEval } from '../../packages/evals/dist/index.js'

/** Five calls of a command that does nothing, and an answer. */
const SCRIPT = `${'- tool_calls: [{ name: nothing }]\n'.repeat(5)}- content: Done.\n`

/** Makes agents, tasks and an eval.yaml below a directory, and plans them into `x.eval`. @returns {Promise<string>} of the evaluation */
export async function planned(home, { tasks, variants, repeats, script = SCRIPT, concurrency = 16 }) {
  const names = Array.from({ length: variants }, (_, index) => `agent-${index + 1}`)
  for (const name of names) writeAgent(join(home, name), { name, script })
  for (let task = 1; task <= tasks; task++)
    write(join(home, 'tasks', `task-${task}`, 'instruction.md'), `Go. This is task ${task}.\n`)
  const agents = Object.fromEntries(names.map((name) => [name, { agent: name }]))
  const keys = {
    name: 'x',
    tasks: 'tasks/',
    variants: agents,
    repeats,
    concurrency,
    score: { equals: 'Done.' },
  }
  write(join(home, 'eval.yaml'), JSON.stringify(keys))
  const directory = join(home, 'x.eval')
  await planEval(await readEval(join(home, 'eval.yaml')), directory)
  return directory
}

function writeAgent(home, { name, script }) {
  const tools = [{ name: 'nothing', exec: 'true' }]
  const llm = { provider: 'script', script: 'script.yaml' }
  write(join(home, 'agent.yaml'), JSON.stringify({ name, llm, tools }))
  write(join(home, 'script.yaml'), script)
  write(join(home, 'context.yaml'), 'sources: [{ type: journal, id: history }]\n')
}

/** Gives each cell of an evaluation a result, as a worker would have left it, without a run. */
export function finish(directory) {
  const lines = readFileSync(join(directory, 'manifest.jsonl'), 'utf8').trim().split('\n')
  const at = new Date().toISOString()
  for (const line of lines) {
    const { task_hash: _, variant_hash: __, ...names } = JSON.parse(line)
    const cell = join(directory, 'cells', names.cell)
    const none = { tokens: {}, estimated: 0, requests: 6, cost: 0, priced: 1 }
    const result = {
      ...{
        version: 1,
        ...names,
        attempt: 1,
        epoch: 1,
        state: 'scored',
        score: 1,
        reason: 'answered',
        detail: '',
      },
      ...{
        scores: { score: { score: 1, metrics: {} } },
        totals: { all: none },
        models: [],
        warnings: [],
        limits: {},
      },
      run: { id: `${names.cell}-1`, status: 'COMPLETED', reason_code: 'answered', iterations: 6 },
      ...{
        sandbox: 'none',
        engine: '0',
        ms: { setup: 0, agent: 1, waited: 0, score: 1 },
        at,
        by: { host: 'x', pid: 1 },
      },
    }
    write(join(cell, 'cell.json'), `${line}\n`)
    write(join(cell, 'lease/1'), `${JSON.stringify({ pid: 1, released: at })}\n`)
    write(join(cell, 'result.json'), `${JSON.stringify(result)}\n`)
  }
}

function write(path, text) {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}

/** Runs programs at once. @returns {Promise<number>} milliseconds of CPU, of them and of the commands that they started */
export async function cpuOf(...all) {
  const before = usedByChildren()
  await Promise.all(all.map(ended))
  return usedByChildren() - before
}

function ended([file, ...words]) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, words, { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (part) => {
      said += part
    })
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${words.join(' ')}: exit ${code}\n${said}`)),
    )
  })
}

function usedByChildren() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10
}
