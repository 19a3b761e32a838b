import { expect, test } from 'vitest'
import {
  formatProblem,
  formatReport,
  listSettings,
  loadAgent,
  loadEnvironment,
  loadToolsFile,
  missingContextMessage,
} from '../src/index.js'

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
  ['loadAgent: the path', () => loadAgent('a\0b', { environment: {} })],
  [
    'loadAgent: the option importRoots',
    () => loadAgent('.', { environment: {}, importRoots: [wrong(null)] }),
  ],
  ['loadAgent: the option shownAs', () => loadAgent('.', { environment: {}, shownAs: wrong(5) })],
  ['loadAgent: the option cache', () => loadAgent('.', { environment: {}, cache: wrong({ read() {} }) })],
  ['formatProblem: the problem', async () => formatProblem(wrong(undefined))],
  ['formatReport: the list of problems', async () => formatReport(wrong(new Error('none')))],
  ['missingContextMessage: the directory', async () => missingContextMessage(wrong(undefined), 'p.md')],
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
    message: expect.stringMatching(new RegExp(`^${what}.* is missing or invalid\\.\nPass `)),
  })
})
