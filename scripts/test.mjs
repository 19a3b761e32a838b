import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootstrap } from './bootstrap.mjs'
import { pathProblem, root, testEnvironment } from './lib/environment.mjs'
import { show } from './lib/step.mjs'
import { summarize } from './lib/test-summary.mjs'

/**
 * `npm test`: bootstrap, then every test in one vitest run. Arguments go to vitest: `npm test -- packages/journal`.
 * `npm run test:real`: the tests that need installed parts, and longer ones of kills and random inputs. What `DELTA_REQUIRE` names must be installed.
 */
async function main() {
  const isReal = process.argv[2] === '--real'
  const words = process.argv.slice(isReal ? 3 : 2)
  const { DELTA_REQUIRE = '' } = process.env
  const real = { DELTA_REQUIRE, ...(isReal && { DELTA_TESTS: 'real', DELTA_TEST_KILLS: '200' }) }
  const problem = pathProblem(root)
  if (problem) {
    console.error(problem)
    return 1
  }
  if (!(await bootstrap())) return 1
  const directory = mkdtempSync(join(tmpdir(), 'delta-test-report-'))
  try {
    const reportPath = join(directory, 'report.json')
    const code = await show(
      [
        process.execPath,
        join(root, 'node_modules', 'vitest', 'vitest.mjs'),
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${reportPath}`,
        ...words,
      ],
      { env: { ...testEnvironment(), ...real } },
    )
    const summary = summarize(readReport(reportPath), code)
    console.log(`\n${summary.line}`)
    return summary.code
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** @param {string} path */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined // vitest ended before it could report; its own output says why
  }
}

process.exitCode = await main()
