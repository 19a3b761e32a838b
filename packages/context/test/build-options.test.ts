import { expect, test } from 'vitest'
import { type BuildOptions, buildContext } from '../src/index.js'
import { placeWith } from './place.js'

test.each([
  ['journalPath', { journalPath: undefined }],
  ['journalPath', { journalPath: null }],
  ['variables.AGENT_HOME', { variables: undefined }],
  ['variables.RUN_DIR', { variables: { AGENT_HOME: '/a', CWD: '/w' } }],
  ['variables.CWD', { variables: { AGENT_HOME: '/a', CWD: 'work', RUN_DIR: '/r' } }],
  ['environment', { environment: undefined }],
  ['iteration', { iteration: '1' }],
  ['task', { task: undefined }],
])('without a usable %s nothing is built, and the option is named', async (option, change) => {
  const { options } = await placeWith()
  const wrong = { ...options, ...change } as unknown as BuildOptions
  await expect(buildContext({ sources: [{ type: 'journal' }] }, wrong)).rejects.toMatchObject({
    code: 'ERR_CONTEXT_USAGE',
    message: expect.stringContaining(`buildContext: the option ${option} is missing`),
  })
})

test('without any options the first one is named', async () => {
  const nothing = undefined as unknown as BuildOptions
  await expect(buildContext({ sources: [] }, nothing)).rejects.toThrow('the option journalPath is missing')
})
