import { expect, test } from 'vitest'
import { listDecisions } from '../lib/decisions.mjs'
import { temporaryTree } from './temporary.mjs'

const INDEX = 'Before.\n<!-- decisions -->\nold\n<!-- /decisions -->\nAfter.\n'

test('the index of decisions lists every record, in the order of their numbers', () => {
  const directory = temporaryTree({
    '0020-b.md': '# 20. The second\n\nText.\n',
    '0003-a.md': '# 0003: The first\n',
    'README.md': INDEX,
  })
  expect(listDecisions(INDEX, directory)).toEqual({
    rendered:
      'Before.\n<!-- decisions -->\n- [0003](0003-a.md) The first\n- [0020](0020-b.md) The second\n<!-- /decisions -->\nAfter.\n',
    problems: [],
  })
  expect(listDecisions('No markers.', directory)).toEqual({ rendered: 'No markers.', problems: [] })
})

test('two records with one number, and a title with another, are problems', () => {
  const directory = temporaryTree({ '0001-a.md': '# 1. One\n', '0001-b.md': '# 2. Two\n' })
  expect(listDecisions(INDEX, directory).problems).toEqual([
    '0001-b.md: another record has this number, too',
    '0001-b.md: its title does not begin with its number',
  ])
})
