import { expect, test } from 'vitest'
import { type Address, formatAddress, parseAddress } from '../web/address.js'

test.each<[string, Address]>([
  ['#/', { screen: 'runs', filter: '', sort: '' }],
  [
    '#/?filter=status%3Afailed+cost%3A%3E0.1&sort=cost-',
    { screen: 'runs', filter: 'status:failed cost:>0.1', sort: 'cost-' },
  ],
  ['#/run/a%2Fb', { screen: 'run', key: 'a/b', tab: 'context' }],
  ['#/run/k/step/14?tab=request', { screen: 'run', key: 'k', step: 14, tab: 'request' }],
  ['#/run/k/step/3?tab=output&call=c1', { screen: 'run', key: 'k', step: 3, tab: 'output', call: 'c1' }],
  ['#/run/k/cost?by=tool', { screen: 'run', key: 'k', tab: 'context', view: 'cost', by: 'tool' }],
  ['#/run/k?search=', { screen: 'run', key: 'k', tab: 'context', search: '' }],
  ['#/diff/k/l', { screen: 'diff', a: 'k', b: 'l' }],
])('%s is a view, and a view is that address', (hash, address) => {
  expect(parseAddress(hash)).toEqual(address)
  expect(formatAddress(address)).toBe(hash)
})

test.each(['', '#', '#/nothing', '#/run/', '#/diff/k', '#<script>'])('%j is the list of runs', (hash) => {
  expect(parseAddress(hash)).toEqual({ screen: 'runs', filter: '', sort: '' })
})

test('what no view has is left out of it', () => {
  expect(parseAddress('#/run/%E0%A4%A/step/x?tab=secrets&by=1')).toEqual({
    screen: 'run',
    key: '%E0%A4%A',
    tab: 'context',
  })
})
