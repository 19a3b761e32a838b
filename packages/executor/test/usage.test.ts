import { foreignErrors } from '@delta/testkit'
import { expect, test } from 'vitest'
import * as executor from '../src/index.js'
import { defineTool, executeTool, isExecutorError, runCommand, toolMap } from '../src/index.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const wrong = (value: unknown) => value as never
const call = { name: 'say', arguments: {} }
const place = { workDirectory: '/', environment: {} }

test.each([
  ['executeTool: the map of tools', () => executeTool(wrong([]), call, wrong(undefined))],
  ['executeTool: the call', () => executeTool(new Map(), wrong(undefined), wrong(undefined))],
  ['executeTool: the option workDirectory', () => executeTool(new Map(), call, wrong(undefined))],
  ['executeTool: the option environment', () => executeTool(new Map(), call, wrong({ workDirectory: '/' }))],
  ['runCommand: the command', () => runCommand(wrong('ls -l'), { cwd: '/', env: {} })],
  ['runCommand: the option cwd', () => runCommand(['ls'], wrong(undefined))],
  ['runCommand: the option env', () => runCommand(['ls'], wrong({ cwd: '/' }))],
  [
    'runCommand: the option timeoutMs',
    () => runCommand(['ls'], { cwd: '/', env: {}, timeoutMs: wrong('5s') }),
  ],
  ['runCommand: the option graceMs', () => runCommand(['ls'], { cwd: '/', env: {}, graceMs: wrong('2s') })],
  ['runCommand: the option signal', () => runCommand(['ls'], { cwd: '/', env: {}, signal: wrong({}) })],
  ['runCommand: the option onSpawn', () => runCommand(['ls'], { cwd: '/', env: {}, onSpawn: wrong('log') })],
  [
    'executeTool: the policy',
    () => executeTool(new Map(), call, { ...place, policy: wrong({ allow_network: false }) }),
  ],
  [
    'executeTool: the option secrets',
    () => executeTool(new Map(), call, { ...place, secrets: wrong([null]) }),
  ],
  ['executeTool: the option signal', () => executeTool(new Map(), call, { ...place, signal: wrong({}) })],
  ['runCommand: the option stdin', () => runCommand(['cat'], { cwd: '/', env: {}, stdin: wrong({ a: 1 }) })],
  ['runCommand: the option keep', () => runCommand(['ls'], { cwd: '/', env: {}, keep: wrong('middle') })],
  ['createRedactor: the list of secrets', async () => executor.createRedactor(wrong(undefined))],
  ['quoteCommand: the list of words', async () => executor.quoteCommand(wrong('ls -l'))],
  ['toolMap: the list of tools', async () => toolMap([wrong({ name: 'say', exec: 'echo' })])],
  ['decide: the policy', async () => executor.decide({}, wrong({ allow_network: false }))],
  ['decide: the argument options', async () => executor.decide({}, undefined, wrong(null))],
  ['prepareCall: the map of tools', async () => executor.prepareCall(wrong([]), call, wrong({}))],
  ['runPrepared: the call', () => executor.runPrepared(wrong({ decision: 'refuse' }), place)],
  ['recordProcess: the pid', async () => executor.recordProcess('/tmp/p', wrong('1'))],
  ['endOrphans: the query', () => executor.endOrphans(wrong(undefined))],
  ['nearestNames: the list of names', async () => executor.nearestNames('a', wrong(undefined))],
])('what cannot be used is named, and nothing is run: %s', async (what, use) => {
  await expect(use()).rejects.toMatchObject({
    code: 'ERR_EXECUTOR_USAGE',
    message: expect.stringContaining(`${what} is missing or invalid.\nPass `),
  })
})

test('a model that names no tool at all gets an answer', async () => {
  const tools = toolMap([defineTool({ name: 'say', exec: 'echo hi' })])
  const { status, observation } = await executeTool(tools, { name: '', arguments: '{}' }, place)
  expect(status).toBe('ERROR')
  expect(observation).toBe('ERROR: there is no tool "". Nothing was run.\nThe tools are: say.')
})

const harmful = ['killRunningCommands', 'recordProcess', 'redactFile'] // with a path, they do what they are for

test('no function answers any value with an error that is not of this package', async () => {
  expect(await foreignErrors(executor, { isOwn: isExecutorError, except: harmful })).toEqual([])
})
