import { expect, test } from 'vitest'
import { summarize } from '../lib/test-summary.mjs'

/**
 * @param {string} status
 * @param {string[]} tests
 */
const file = (status, tests) => ({ status, assertionResults: tests.map((result) => ({ status: result })) })

test('a run without failures says so and exits with 0', () => {
  const report = {
    success: true,
    testResults: [file('passed', ['passed', 'passed']), file('passed', ['passed'])],
  }
  expect(summarize(report, 0)).toEqual({ line: '3 passed, 0 failed', code: 0 })
})

test('skipped and planned tests are counted in the open', () => {
  const report = { success: true, testResults: [file('passed', ['passed', 'skipped', 'todo', 'pending'])] }
  expect(summarize(report, 0)).toEqual({ line: '1 passed, 0 failed, 3 skipped', code: 0 })
})

test('a failing test and a file that cannot be loaded each count as one failure', () => {
  const report = { success: false, testResults: [file('failed', ['passed', 'failed']), file('failed', [])] }
  expect(summarize(report, 1)).toEqual({ line: '1 passed, 2 failed', code: 1 })
})

test('an error outside any test is a failure although every test passed', () => {
  const report = { success: true, testResults: [file('passed', ['passed'])] }
  expect(summarize(report, 1)).toEqual({ line: '1 passed, 1 failed', code: 1 })
})

test('a run that ended without a report is a failure even with exit code 0', () => {
  expect(summarize(undefined, 0)).toEqual({ line: '0 passed, 1 failed', code: 1 })
})
