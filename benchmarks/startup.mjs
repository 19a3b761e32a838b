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
import { certificates } from './certificates.mjs'
import { goalOf } from './goals.mjs'
import { median, numbers, report } from './report.mjs'
import { inTurns, NAMES, prepareStarts } from './startup/starts.mjs'

const TOOLS = 200
const [rounds = 11] = numbers()
const { starts, runOf, close } = await prepareStarts()
const floor = starts[NAMES.floor]
const goals = {
  [NAMES.version]: goalOf('startup.version').atMost,
  [NAMES.expand]: goalOf('startup.expand').atMost,
  [NAMES.http]: goalOf('startup.run').atMost,
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

async function startsTable() {
  const rows = []
  for (const [command, start] of Object.entries(starts)) {
    const pairs = await inTurns(floor, start, { rounds })
    rows.push({
      command,
      'CPU, ms': Math.round(median(pairs.map(([, times]) => times.cpu))),
      '× floor': timesFloor(pairs),
      goal: goals[command] ?? '',
      ...(await withCertificates(start)),
    })
  }
  return { title: 'Starting `delta`', rows }
}

const timesFloor = (pairs) => median(pairs.map(([base, { cpu }]) => cpu / base.cpu)).toFixed(2)

async function withCertificates(start) {
  if (certificates === undefined) return {}
  const pairs = await inTurns(floor, start, { rounds, env: { NODE_EXTRA_CA_CERTS: certificates } })
  return { '× floor, with NODE_EXTRA_CA_CERTS': timesFloor(pairs) }
}

/** Beside runs of the same script without tools. */
async function toolsTable() {
  const many = await runOf({ tools: Array.from({ length: TOOLS }, toolOf) })
  const pairs = await inTurns(starts[NAMES.script], many, { rounds })
  const added = (kind) => Math.round(median(pairs.map(([base, times]) => times[kind] - base[kind])))
  const goal = goalOf('startup.tools_ms').atMost
  const rows = [{ tools: TOOLS, 'time, ms': added('wall'), 'CPU, ms': added('cpu'), goal }]
  return { title: 'What tools add to a run, from the second start on', rows }
}

try {
  const table = await startsTable()
  const rowOf = (name) => table.rows.find(({ command }) => command === name)
  const tools = await toolsTable()
  report('startup', {
    tables: [table, tools],
    figures: {
      version: rowOf(NAMES.version)['× floor'],
      expand: rowOf(NAMES.expand)['× floor'],
      run: rowOf(NAMES.http)['× floor'],
      ai_sdk: (rowOf(NAMES.http)['CPU, ms'] / rowOf(NAMES.aiSdk)['CPU, ms']).toFixed(2),
      tools_ms: tools.rows[0]['CPU, ms'],
    },
  })
} finally {
  await close()
}
