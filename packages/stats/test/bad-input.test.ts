import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as stats from '../src/index.js'

const functions = stats as unknown as Record<string, (...given: unknown[]) => unknown>

/** A call, and what it says. */
const REFUSALS: [name: string, given: unknown[], message: string][] = [
  ['wilson', [7, 5], 'wilson: k must be a whole number from 0 to n = 5, got 7.'],
  ['wilson', [0, 0], 'wilson: n must be a whole number from 1 to 1000000000, got 0.'],
  ['wilson', [1.5, 5], 'wilson: k must be a whole number from 0 to n = 5, got 1.5.'],
  ['wilson', [1, 5, { confidence: 95 }], 'wilson: confidence must be a number between 0 and 1, got 95.'],
  ['clopperPearson', [-1, 5], 'clopperPearson: k must be a whole number from 0 to n = 5, got -1.'],
  ['newcombe', [1, 5, 3, 2], 'newcombe: k2 must be a whole number from 0 to n2 = 2, got 3.'],
  [
    'rate',
    [
      [1, 0.5],
      ['a', 'b'],
    ],
    'rate: values must be 0 or 1, got 0.5.',
  ],
  [
    'rate',
    [
      [1, 1],
      ['a', 'a'],
    ],
    'rate needs at least 2 tasks, got 1: how tasks vary cannot be seen in fewer.',
  ],
  ['rate', [[], []], 'rate needs at least 2 tasks, got 0: how tasks vary cannot be seen in fewer.'],
  ['rate', [[1, 0], ['a']], 'rate needs one task a value, got 2 values and 1 tasks.'],
  [
    'clusteredMean',
    [
      [1, NaN],
      ['a', 'b'],
    ],
    'clusteredMean: value of task "b" must be a finite number, at most 1e100 in size, got NaN.',
  ],
  [
    'clusteredMean',
    [
      [1, 2, 3],
      [7, 7, 7],
    ],
    'clusteredMean needs at least 2 tasks, got 1: how tasks vary cannot be seen in fewer.',
  ],
  [
    'pairedDifference',
    [[{ task: 'a', value: 1 }], [{ task: 'b', value: 1 }]],
    'pairedDifference needs at least 2 tasks that both have, got 0: how tasks vary cannot be seen in fewer.',
  ],
  [
    'pairedDifference',
    [[{ task: 'a', value: undefined }], []],
    'pairedDifference: value of task "a" must be a finite number, at most 1e100 in size, got undefined.',
  ],
  ['signFlip', [[]], 'signFlip: the number of differences must be a whole number of at least 1, got 0.'],
  [
    'signFlip',
    [[1, Infinity]],
    'signFlip: differences[1] must be a finite number, at most 1e100 in size, got Infinity.',
  ],
  ['signFlip', [[1], { draws: 0 }], 'signFlip: draws must be a whole number of at least 1, got 0.'],
  ['mcnemarExact', [3, -1], 'mcnemarExact: c must be a whole number of at least 0, got -1.'],
  ['passAtK', [5, 3, 6], 'passAtK: k must be a whole number from 1 to n = 5, got 6.'],
  ['passHatK', [5, 6, 1], 'passHatK: c must be a whole number from 0 to n = 5, got 6.'],
  ['holm', [[0.5, 1.2]], 'holm: p[1] must be a number from 0 to 1, got 1.2.'],
  ['tiedSets', [['a', 'b'], [[1, 0.5]]], 'tiedSets needs 2 rows of 2 p, got rows of 2.'],
  [
    'tiedSets',
    [
      ['a', 'b'],
      [
        [1, 0.5],
        [0.4, 1],
      ],
    ],
    'tiedSets: pMatrix[0][1] is 0.5, and pMatrix[1][0] is 0.4.',
  ],
  ['minimumDetectableEffect', [{ sd: -1, n: 5 }], 'minimumDetectableEffect: sd must be at least 0, got -1.'],
  ['requiredTasks', [{ sd: 1, effect: 0 }], 'requiredTasks: effect must be a number above 0, got 0.'],
  ['quantile', [[], 0.5], 'quantile: the number of values must be a whole number of at least 1, got 0.'],
  ['quantile', [[1], 50], 'quantile: q must be a number from 0 to 1, got 50.'],
  [
    'bootstrap',
    [[1, 2], () => NaN],
    'bootstrap: f of a sample of 2 must be a finite number, at most 1e100 in size, got NaN.',
  ],
  [
    'bootstrap',
    [[1, 2], () => 1, { clusters: ['a', 'a'] }],
    'bootstrap needs at least 2 tasks, got 1: how tasks vary cannot be seen in fewer.',
  ],
  ['normalCdf', [NaN], 'normalCdf: x must be a number, got NaN.'],
  ['normalQuantile', [1], 'normalQuantile: p must be a number between 0 and 1, got 1.'],
  ['tCdf', [0, 0.5], 'tCdf: df must be a number from 1 to 1000000000, got 0.5.'],
  ['tQuantile', ['0.5', 3], 'tQuantile: p must be a number between 1e-100 and 1, got "0.5".'],
  ['betaQuantile', [0.5, 0, 1], 'betaQuantile: a must be a number from 0.000001 to 1000000000, got 0.'],
  ['binomialCdf', [3, 2, 0.5], 'binomialCdf: k must be a whole number from 0 to n = 2, got 3.'],
]

test.each(REFUSALS)('%s refuses %j', (name, given, message) => {
  expect(() => functions[name]?.(...given)).toThrow(new RangeError(message))
})

test('every function refuses something', () => {
  expect([...new Set(REFUSALS.map(([name]) => name))].sort()).toEqual(Object.keys(stats).sort())
})

/** What anybody may pass by mistake, and what lies at the edges. */
const anything = fc.oneof(
  fc.constantFrom<unknown>(
    NaN,
    Infinity,
    -Infinity,
    -1,
    0,
    -0,
    0.5,
    1,
    2,
    5,
    34,
    1e-300,
    5e-324,
    1e300,
    '1',
    null,
    true,
    undefined,
  ),
  fc.double({ noNaN: true }),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.integer({ min: 0, max: 1000 }),
)

const NUMERIC = {
  ...{ wilson: 2, clopperPearson: 2, newcombe: 4, mcnemarExact: 2, passAtK: 3, passHatK: 3 },
  ...{ normalCdf: 1, normalQuantile: 1, tCdf: 2, tQuantile: 2, betaQuantile: 3, binomialCdf: 3 },
}

test.each(Object.entries(NUMERIC))(
  '%s returns no NaN and throws nothing but a RangeError, whatever it gets',
  (name, count) => {
    fc.assert(
      fc.property(fc.array(anything, { minLength: count, maxLength: count }), (given) => {
        expectNumbersOrRefusal(() => functions[name]?.(...given))
      }),
      { numRuns: 500 },
    )
  },
)

test.each(['rate', 'clusteredMean', 'signFlip', 'holm', 'quantile'])(
  '%s returns no NaN for lists of anything',
  (name) => {
    const list = fc.array(anything, { maxLength: 6 })
    fc.assert(
      fc.property(
        list,
        fc.array(fc.constantFrom('a', 'b', 3), { maxLength: 6 }),
        anything,
        (values, tasks, q) => {
          const second = { rate: tasks, clusteredMean: tasks, quantile: q }[name]
          expectNumbersOrRefusal(() => functions[name]?.(values, second))
        },
      ),
      { numRuns: 500 },
    )
  },
)

function expectNumbersOrRefusal(call: () => unknown): void {
  let result: unknown
  try {
    result = call()
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError)
    expect((error as Error).message).toMatch(/got|is/)
    return
  }
  expect(JSON.stringify(result, (_, value) => (Number.isNaN(value) ? 'not a number' : value))).not.toContain(
    'not a number',
  )
}
