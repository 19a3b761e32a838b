import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as stats from '../src/index.js'

/** One line of a file in reference/; the scripts there wrote them, and say how to write them again. */
interface Case {
  function: string
  arguments: unknown[]
  result: number | object
}

/** `bootstrap` takes a function, which no file can hold: that of the files is the mean. */
const functions = {
  ...stats,
  bootstrap: (values: number[]) => stats.bootstrap(values, mean),
} as unknown as Record<string, (...given: unknown[]) => unknown>

describe.each(['r', 'python'])('reference/%s.jsonl', (file) => {
  const lines = readFileSync(join(import.meta.dirname, `reference/${file}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  const cases = lines.map((line): Case => JSON.parse(line))
  const names = [...new Set(cases.map((given) => given.function))]
  test.each(names)('%s gives what it gives there', (name) => {
    for (const { arguments: values, result } of cases.filter((given) => given.function === name)) {
      const actual = functions[name]?.(...values)
      expect(differences(actual, result, tolerance(name, result, values)), JSON.stringify(values)).toEqual([])
    }
  })
})

test('every function is compared with R', () => {
  const text = readFileSync(join(import.meta.dirname, 'reference/r.jsonl'), 'utf8')
  const without = Object.keys(functions).filter((name) => !text.includes(`{"function":"${name}"`))
  // Newcombe's interval is in statsmodels, and R has no sets of ties: multiple-comparisons.test.ts tries all subsets.
  expect(without).toEqual(['tiedSets', 'newcombe'])
})

/** How far a number may be from that of the file: 1e-9 of its size, or of 1 where it is the end of an interval. */
function tolerance(name: string, result: number | object, given: unknown[]): (expected: number) => number {
  const [values] = given as [unknown[]]
  // What is drawn at random is near what is known exactly: five standard errors of 10,000 draws, one of the counts.
  if (name === 'signFlip' && 'exact' in Object(result) && !Object(result).exact)
    return (p) => 5 * Math.sqrt((p * (1 - p)) / 10_000) + 1e-4
  if (name === 'bootstrap') return () => 1 / values.length
  if (typeof result === 'object') return (expected) => 1e-9 * Math.max(1, Math.abs(expected))
  return (expected) => 1e-9 * Math.abs(expected)
}

/** What differs by more than is tolerated. */
function differences(
  actual: unknown,
  expected: unknown,
  tolerated: (expected: number) => number,
  path = '',
): string[] {
  if (typeof expected === 'number' && typeof actual === 'number') {
    return Math.abs(actual - expected) <= tolerated(expected) ? [] : [`${path}: ${actual}, not ${expected}`]
  }
  if (typeof expected === 'object' && typeof actual === 'object' && expected && actual) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)])
    return [...keys].flatMap((key) =>
      differences(field(actual, key), field(expected, key), tolerated, `${path}.${key}`),
    )
  }
  return actual === expected ? [] : [`${path}: ${actual}, not ${expected}`]
}

function field(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key]
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
