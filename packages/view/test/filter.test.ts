import { expect, test } from 'vitest'
import { compileFilter, type Filtered } from '../web/filter.js'

const row: Filtered = {
  text: '4be1c2 fixer Fix the failing test in calc.py gpt-5.6-luna limit_cost',
  fields: {
    status: ['FAILED', 'limit_cost'],
    reason: 'limit_cost',
    model: ['gpt-5.6-luna', 'claude-sonnet-5'],
    agent: 'fixer',
    tool: ['bash', 'edit'],
    cost: 0.5,
    steps: 9,
    tokens: 140_000,
    score: null,
  },
}

test.each([
  ['', true],
  ['failing TEST', true],
  ['failing nothing', false],
  ['"the failing"', true],
  ['"failing the"', false],
  ['status:failed', true],
  ['status:completed,failed', true],
  ['status:completed', false],
  ['model:gpt*', true],
  ['model:gpt', false],
  ['model:*sonnet-5', true],
  ['cost:>0.1', true],
  ['cost:>$0.1', true],
  ['cost:>=0.5 cost:<=0.5', true],
  ['cost:<0.1', false],
  ['steps:9', true],
  ['tool:bash reason:limit_cost', true],
  ['tool:view', false],
  ['-tool:view', true],
  ['-fixer', false],
  ['score:<1', false],
  ['-score:<1', true],
  ['variant:a', false],
  ['status:', true],
  ['agent:fix.r', false],
  ['calc.py', true],
  ['other:thing', false],
])('%s', (query, holds) => {
  expect(compileFilter(query)(row)).toBe(holds)
})
