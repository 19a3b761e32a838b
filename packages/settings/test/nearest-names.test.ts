import { expect, test } from 'vitest'
import { nearestNames } from '../src/index.js'

const KEYS = ['timeout_ms', 'command', 'cwd', 'read_file', 'read_directory', 'exec', 'description']

test.each([
  ['timout_ms', ['timeout_ms']],
  ['timeout', ['timeout_ms']],
  ['timeoutMs', ['timeout_ms']],
  ['file-read', ['read_file']],
  ['readFile', ['read_file']],
  ['read', ['read_file', 'read_directory']],
  ['descriptoin', ['description']],
  ['exce', ['exec']],
  ['cmd', ['cwd']],
  ['fetch', []],
  ['', []],
  ['_', []],
])('%j may have meant %j', (wanted, meant) => {
  expect(nearestNames(wanted, KEYS)).toEqual(meant)
})

test('at most three are named, the likeliest first', () => {
  expect(nearestNames('reads', ['reids', 'reeds', 'read', 'READS'], 2)).toEqual(['READS', 'reids', 'reeds'])
})

test('a name of any length is looked at in a moment', () => {
  const names = Array.from({ length: 1000 }, (_, index) => `tool_${index}`)
  expect(nearestNames('x'.repeat(1_000_000), names)).toEqual([])
})
