/**
 * What a run loses when it is killed: the engine's crash tests, with more kills than `npm test` has time for.
 *
 *   node benchmarks/crash.mjs [kills] [--write]        default: 200
 *
 * The tests hold every promise after each kill, so that a table is printed only when nothing was lost.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { numbers, report } from './report.mjs'

const [kills = 200] = numbers()
const root = fileURLToPath(new URL('..', import.meta.url))
const argv = ['node_modules/vitest/vitest.mjs', 'run', 'packages/engine/test/crash.test.ts']
const env = { ...process.env, DELTA_TEST_KILLS: String(kills) }
const { status } = spawnSync(process.execPath, argv, { cwd: root, env, stdio: 'inherit' })

if (status === 0) {
  const row = {
    'kills at random': kills,
    'events lost': 0,
    'calls run twice unnoticed': 0,
    'runs not finished': 0,
  }
  report('crash', {
    tables: [{ title: 'Killed with `kill -9`, continued, checked', rows: [row] }],
    figures: { kills },
  })
}
process.exitCode = status ?? 1
