/**
 * What building a context costs: a run of 10,000 iterations, beside a plain loop that does the same by hand.
 *
 *   node benchmarks/context.mjs [rounds] [--write]
 *
 * CPU time (user + system), the median of alternations in this one run. "By hand" parses every line and pushes three
 * kinds of messages; it neither recovers, nor sorts results, nor accounts for anything.
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildContext, parseManifest } from '../packages/context/dist/index.js'
import { followEvents } from '../packages/context/dist/internal.js'
import { median, numbers, report } from './report.mjs'

const [rounds = 15] = numbers()
const ITERATIONS = 10_000
const directory = mkdtempSync(join(tmpdir(), 'delta-bench-context-'))
const journalPath = join(directory, 'journal.jsonl')

function iterationLines(iteration) {
  const at = { timestamp: '2026-11-20T09:30:00.000Z', iteration }
  const id = `call_${iteration}`
  const call = { id, action_id: id, name: 'read_file', arguments: `{"path":"src/file_${iteration}.ts"}` }
  return [
    {
      seq: 4 * iteration - 2,
      ...at,
      type: 'THOUGHT',
      content: `Look at file ${iteration}.`,
      tool_calls: [call],
    },
    {
      seq: 4 * iteration - 1,
      ...at,
      type: 'ACTION_REQUEST',
      action_id: id,
      attempt: 1,
      tool_name: 'read_file',
    },
    {
      seq: 4 * iteration,
      ...at,
      type: 'ACTION_RESULT',
      action_id: id,
      tool_name: 'read_file',
      status: 'SUCCESS',
      observation_content: 'x'.repeat(400),
    },
    {
      seq: 4 * iteration + 1,
      ...at,
      type: 'HOOK_EXECUTION_AUDIT',
      hook_name: 'on_iteration_end',
      status: 'SUCCESS',
    },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('')
}

const task = { seq: 1, timestamp: '2026-11-20T09:30:00.000Z', type: 'USER_MESSAGE', content: 'Read it all.' }
const text = [`${JSON.stringify(task)}\n`]
for (let iteration = 1; iteration <= ITERATIONS; iteration++) text.push(iterationLines(iteration))
writeFileSync(journalPath, text.join(''))

const options = {
  journalPath,
  variables: { AGENT_HOME: directory, CWD: directory, RUN_DIR: directory },
  env: {},
  iteration: ITERATIONS,
  task: task.content,
}
const manifest = (source) => parseManifest({ sources: [{ type: 'journal', ...source }] })

function byHand(lines) {
  const messages = []
  for (const line of lines) {
    const event = JSON.parse(line)
    if (event.type === 'USER_MESSAGE') messages.push({ role: 'user', content: event.content })
    if (event.type === 'THOUGHT') {
      const calls = event.tool_calls.map((call) => ({
        id: call.action_id,
        type: 'function',
        function: { name: call.name, arguments: call.arguments },
      }))
      messages.push({ role: 'assistant', content: event.content, tool_calls: calls })
    }
    if (event.type === 'ACTION_RESULT') {
      messages.push({ role: 'tool', tool_call_id: event.action_id, content: event.observation_content })
    }
  }
  return JSON.stringify(messages)
}

const allLines = () => readFileSync(journalPath, 'utf8').trimEnd().split('\n')
const events = allLines().map((line) => JSON.parse(line))
const follower = followEvents(async () => events)
let next = ITERATIONS

/** As a run does it: the events of the last iteration are added, and the context is built. */
function followed(source) {
  const lines = iterationLines(++next)
  appendFileSync(journalPath, lines)
  for (const line of lines.trimEnd().split('\n')) events.push(JSON.parse(line))
  return buildContext(manifest(source), { ...options, journalPath: follower })
}

const WINDOW = 'last 20 iterations, one more iteration, followed'
const ways = {
  'whole history, by hand (the floor)': () => byHand(allLines()),
  'whole history, buildContext': () => buildContext(manifest({}), options),
  'whole history, one more iteration, followed': () => followed({}),
  [WINDOW]: () => followed({ max_iterations: 20 }),
  'last 20 iterations, by hand from all lines': () => byHand(allLines().slice(-80)),
  'last 20 iterations, buildContext': () => buildContext(manifest({ max_iterations: 20 }), options),
}

async function cpuMs(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

try {
  const figures = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
  for (let round = -2; round < rounds; round++) {
    for (const [name, work] of Object.entries(ways)) {
      const ms = await cpuMs(work)
      if (round >= 0) figures[name].push(ms)
    }
  }
  const floor = median(figures['whole history, by hand (the floor)'])
  const rows = Object.entries(figures).map(([what, values]) => ({
    what,
    'CPU, ms': median(values).toFixed(1),
    '× floor': (median(values) / floor).toFixed(3),
  }))
  report('context', {
    tables: [{ title: 'The context of a run of 10,000 iterations', rows }],
    figures: { window_ms: median(figures[WINDOW]).toFixed(1), iterations: ITERATIONS.toLocaleString('en') },
  })
} finally {
  rmSync(directory, { recursive: true, force: true })
}
