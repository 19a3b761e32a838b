import { expect, test } from 'vitest'
import { leavesOf } from '../src/index.js'
import { versionNotice } from '../src/internal.js'
import { box } from './helpers.js'

test.each(['0.1', '0.6', { version: '0.6' }])('version %j is known', (atip) => {
  expect(versionNotice({ atip })).toBeUndefined()
})

test.each(['0.7', '0.10', '1.0', '1', { version: '0.9' }])(
  'version %j is newer than what is known',
  (atip) => {
    const version = typeof atip === 'string' ? atip : atip.version
    const notice = `This is ATIP ${version}; what is newer than 0.6 in it has no effect here.`
    expect(versionNotice({ atip })).toBe(notice)
    expect(leavesOf({ ...box({ go: { description: 'Go' } }), atip })).toHaveLength(1)
  },
)

test.each(['latest', 'v0.6', '0.6-beta'])('what is no version is said to be none: %s', (atip) => {
  expect(versionNotice({ atip })).toBe(`"${atip}" is not a version of ATIP; it is read as 0.6.`)
})

test('metadata that wants a newer reader is refused', () => {
  const atip = { version: '0.9', minAgentVersion: '0.8' }
  expect(() => leavesOf({ ...box({ go: { description: 'Go' } }), atip })).toThrow(
    'The ATIP metadata of box is for readers of ATIP 0.8 and later; this one reads up to 0.6.',
  )
})
