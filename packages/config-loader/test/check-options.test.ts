import { expect, test } from 'vitest'
import { listSettings, loadAgent, loadEnvironment, loadToolsFile } from '../src/index.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const wrong = (value: unknown) => value as never

test.each([
  ['loadAgent: the path', () => loadAgent(wrong(undefined), wrong(undefined))],
  ['loadAgent: the path', () => loadAgent(wrong({ directory: '.' }), { environment: {} })],
  ['loadAgent: the option environment', () => loadAgent('.', wrong(undefined))],
  ['loadAgent: the option environment', () => loadAgent('.', wrong({}))],
  [
    'loadAgent: the option importRoots',
    () => loadAgent('.', wrong({ environment: {}, importRoots: '/lib' })),
  ],
  ['loadToolsFile: the option environment', () => loadToolsFile('tools.yaml', wrong(null))],
  ['listSettings: the path', () => listSettings('', { environment: {} })],
  ['loadEnvironment: the option workDirectory', () => loadEnvironment(wrong(undefined))],
  [
    'loadEnvironment: the option environment',
    () => loadEnvironment(wrong({ workDirectory: '/w', agentHome: '/a' })),
  ],
])('what cannot be used is named: %s', async (what, call) => {
  await expect(call()).rejects.toMatchObject({
    code: 'ERR_CONFIG_USAGE',
    message: expect.stringMatching(new RegExp(`^${what}.* is missing, or not what it must be\\.\nPass `)),
  })
})
