import { expect, test } from 'vitest'
import { defineAgent } from '../src/index.js'
import { complaint, load, MINIMAL } from './agents.js'

const limits = (written: string) => ({ 'agent.yaml': `${MINIMAL['agent.yaml']}limits: ${written}\n` })

test('an agent says what a run may spend, in any of tokens, dollars and time', async () => {
  const { agent } = await load(limits('{ tokens: 500000, cost: 0.5, wall_time: 30m }'))
  expect(agent.limits).toEqual({ tokens: 500_000, cost: 0.5, wallTimeMs: 1_800_000 })
  expect((await load(limits('{ wall_time: 1.5h }'))).agent.limits).toEqual({ wallTimeMs: 5_400_000 })
  expect((await load(limits('{ wall_time: 90s, x-why: budget }'))).agent.limits).toEqual({
    wallTimeMs: 90_000,
  })
  expect((await load()).agent.limits).toBeUndefined()
})

test('a limit can be set for one run, and removed', async () => {
  const overrides = ['limits.cost=1', 'limits.tokens=']
  const { agent } = await load(limits('{ tokens: 9, cost: 0.5 }'), { overrides })
  expect(agent.limits).toEqual({ cost: 1 })
  expect((await load({}, { overrides: ['limits.wall_time=4h'] })).agent.limits).toEqual({
    wallTimeMs: 14_400_000,
  })
})

test('a limit that was set is checked like one of the file', async () => {
  expect(await complaint({}, { overrides: ['limits.costs=1'] })).toBe(
    '--set limits.costs=1: limits: unknown key "costs".\nDid you mean "cost"?',
  )
  expect(await complaint({}, { overrides: ['limits.cost=0'] })).toBe(
    '--set limits.cost=0: limits.cost: must be above 0, got 0.',
  )
})

test.each([
  [
    '{ costs: 1 }',
    `3:11: limits: unknown key "costs".
  limits: { costs: 1 }
            ^
Did you mean "cost"?`,
  ],
  [
    '{ wall_time: 30 }',
    `3:22: limits.wall_time: give a unit: 30s, 30m or 30h.
  limits: { wall_time: 30 }
                       ^`,
  ],
  [
    '{ cost: -1 }',
    `3:17: limits.cost: must be above 0, got -1.
  limits: { cost: -1 }
                  ^`,
  ],
  [
    '{ tokens: 0.5 }',
    `3:19: limits.tokens: must be a whole number, got 0.5.
  limits: { tokens: 0.5 }
                    ^`,
  ],
  [
    '{ wall_time: soon }',
    `3:22: limits.wall_time: must be a time such as 90s, 30m or 4h.
  limits: { wall_time: soon }
                       ^`,
  ],
  [
    '{ wall_time: 0h }',
    `3:22: limits.wall_time: must be above 0.
  limits: { wall_time: 0h }
                       ^`,
  ],
])('limits: %s is refused where it stands', async (written, report) => {
  expect(await complaint(limits(written))).toBe(`agent/agent.yaml:${report}`)
})

test('every wrong limit is reported at once', async () => {
  const report = await complaint(limits('{ tokens: 0, cost: free, wall_time: 9, costs: 1 }'))
  expect(report.match(/^agent.*/gm)).toEqual([
    'agent/agent.yaml:3:19: limits.tokens: must be above 0, got 0.',
    'agent/agent.yaml:3:28: limits.cost: must be a number, got "free".',
    'agent/agent.yaml:3:45: limits.wall_time: give a unit: 9s, 9m or 9h.',
    'agent/agent.yaml:3:48: limits: unknown key "costs".',
  ])
})

test('an agent that a program defines has limits and prices, too', () => {
  const agent = defineAgent({
    name: 'a',
    llm: { model: 'm' },
    system: 'You test.',
    limits: { cost: 1, wall_time: '30m' },
    prices: [{ match: 'm', input: 1, output: 2 }],
  })
  expect(agent.limits).toEqual({ cost: 1, wallTimeMs: 1_800_000 })
  expect(agent.prices).toEqual([{ match: 'm', input: 1, output: 2 }])
})
