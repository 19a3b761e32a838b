/**
 * What a session adds to a command: `exec` of `true` beside `bash -c true`, and the command line beside an empty script.
 *
 *   node benchmarks/sessions.mjs [rounds] [--write]        default: 9
 *
 * CPU time of this process and of its children together (Linux), alternating, medians.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execInSession, startSession } from '../packages/sessions/dist/index.js'
import './certificates.mjs'
import { median, numbers, report } from './report.mjs'

const [rounds = 9] = numbers()
const workDirectory = mkdtempSync(join(tmpdir(), 'delta-bench-'))
const sessionsDirectory = join(workDirectory, '.sessions')
const options = { sessionsDirectory, env: process.env }
const { sessionId: id } = await startSession('bash', { ...options, cwd: workDirectory })
const bin = fileURLToPath(new URL('../packages/sessions/bin.cjs', import.meta.url))

const CASES = [
  { name: 'bash -c true', times: 100, run: () => ended(spawn('bash', ['-c', 'true'], { stdio: 'ignore' })) },
  {
    name: 'session exec true',
    times: 100,
    run: () => execInSession(id, 'true', options),
  },
  { name: 'empty node script', times: 8, run: () => spawnSync(process.execPath, ['-e', '']) },
  {
    name: 'delta-sessions exec true',
    times: 8,
    run: () => spawnSync(process.execPath, [bin, 'exec', id, 'true', '--sessions-dir', sessionsDirectory]),
  },
]

function ended(child) {
  return new Promise((resolve) => child.once('close', resolve))
}

/** Milliseconds of CPU used so far, by this process and by the children it has waited for. */
function cpuMs() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) * 10
}

const results = CASES.map(() => [])
for (let round = 0; round < rounds; round++) {
  for (const [index, { times, run }] of CASES.entries()) {
    const start = cpuMs()
    for (let count = 0; count < times; count++) await run()
    results[index].push((cpuMs() - start) / times)
  }
}
rmSync(workDirectory, { recursive: true })

const [bash, session, node, cli] = results.map(median)
const row = (what, ours, floor) => ({
  what,
  'floor, ms': floor.toFixed(1),
  'ours, ms': ours.toFixed(1),
  '× floor': (ours / floor).toFixed(2),
})
const rows = [
  row('the library beside `bash -c true`', session, bash),
  row('`delta-sessions` beside an empty script', cli, node),
]
report('sessions', {
  tables: [{ title: '`exec` of `true` in a session', rows }],
  figures: { library: rows[0]['× floor'], command: rows[1]['× floor'] },
})
