/**
 * @typedef {{ status: string, assertionResults: { status: string }[] }} FileReport
 * @typedef {{ success: boolean, testResults: FileReport[] }} Report vitest's JSON report, as far as we read it
 */

/**
 * The closing line of `npm test` and its exit code, from vitest's JSON report.
 *
 * A file that could not be loaded, an error outside any test and a run without a report each count as one
 * failure, so that "0 failed" always comes with exit code 0 and nothing else does.
 *
 * @param {Report | undefined} report undefined when vitest left none
 * @param {number} code vitest's exit code
 */
export function summarize(report, code) {
  const files = report?.testResults ?? []
  const tests = files.flatMap((file) => file.assertionResults)
  const passed = tests.filter((test) => test.status === 'passed').length
  const skipped = tests.filter((test) =>
    ['skipped', 'pending', 'todo', 'disabled'].includes(test.status),
  ).length
  const failed = tests.filter((test) => test.status === 'failed').length + files.filter(failedAsAWhole).length
  const unexplained = failed === 0 && (code !== 0 || !report?.success) ? 1 : 0

  const line = `${passed} passed, ${failed + unexplained} failed${skipped ? `, ${skipped} skipped` : ''}`
  return { line, code: failed + unexplained === 0 ? 0 : code || 1 }
}

/** @param {FileReport} file */
function failedAsAWhole(file) {
  return file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')
}
