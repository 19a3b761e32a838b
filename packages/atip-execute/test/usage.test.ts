import { expect, test } from 'vitest'
import * as face from '../src/index.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const tool = {
  atip: '0.6',
  name: 'box',
  version: '1.0.0',
  description: 'A box',
  commands: { go: { description: 'Go' } },
}
const call = { id: '1', name: 'box_go', arguments: {} }
const mapping = face.mapToCommand('box_go', [tool])
const { execute, executeBatch, validate } = face.createExecutor({ tools: [tool] })
const functions = { ...face, execute, executeBatch, validate } as unknown as Record<string, Use>
type Use = (...args: unknown[]) => unknown

test.each<[what: string, name: string, ...args: unknown[]]>([
  ['createExecutor: the option tools', 'createExecutor', undefined],
  ['createExecutor: the policy', 'createExecutor', { tools: [tool], policy: 'strict' }],
  [
    'createExecutor: the rule allowNetwork',
    'createExecutor',
    { tools: [tool], policy: { allowNetwork: 'false' } },
  ],
  [
    'createExecutor: the rule allow_network',
    'createExecutor',
    { tools: [tool], policy: { allow_network: false } },
  ],
  [
    'createExecutor: the rule minTrustLevel',
    'createExecutor',
    { tools: [tool], policy: { minTrustLevel: 'orgs' } },
  ],
  [
    'createExecutor: the rule maxCostEstimate',
    'createExecutor',
    { tools: [tool], policy: { maxCostEstimate: 1 } },
  ],
  [
    'createExecutor: the confirmationHandler',
    'createExecutor',
    { tools: [tool], policy: { confirmationHandler: true } },
  ],
  ['createExecutor: the option timeout', 'createExecutor', { tools: [tool], execution: { timeout: '5s' } }],
  [
    'createExecutor: the option redactPatterns',
    'createExecutor',
    { tools: [tool], output: { redactPatterns: ['sk-'] } },
  ],
  ['the executor: the call', 'execute', undefined],
  ['validate: the call', 'validate', null],
  ['executeBatch: the list of calls', 'executeBatch', call],
  ['executeBatch: the argument options', 'executeBatch', [], null],
  [
    'executeBatch: the option maxConcurrency',
    'executeBatch',
    [call],
    { parallel: true, maxConcurrency: Number.NaN },
  ],
  ['mapToCommand: the option tools', 'mapToCommand', 'box_go', tool],
  ['buildCommandArray: the mapping', 'buildCommandArray', undefined, {}],
  ['buildCommandArray: the object of arguments', 'buildCommandArray', mapping, undefined],
  ['checkPolicy: the call', 'checkPolicy', undefined, mapping, {}],
  ['checkPolicy: the mapping', 'checkPolicy', call, undefined, {}],
  ['checkPolicy: the rule minTrustLevel', 'checkPolicy', call, mapping, { minTrustLevel: 'orgs' }],
  ['validateToolCall: the call', 'validateToolCall', undefined, mapping],
  ['executeCommand: the command', 'executeCommand', 'ls -l'],
  ['executeCommand: the option timeout', 'executeCommand', ['ls'], { timeout: Number.NaN }],
  ['executeCommand: the option cwd', 'executeCommand', ['ls'], { cwd: '' }],
  ['executeCommand: the option env', 'executeCommand', ['ls'], { env: 'A=1' }],
  ['executeCommand: the option onStdout', 'executeCommand', ['ls'], { onStdout: 'log' }],
  ['executeCommand: the option onStderr', 'executeCommand', ['ls'], { onStderr: 'log' }],
  ['formatResult: the result', 'formatResult', undefined],
  ['checkPolicy: the rule allowNetwrok', 'checkPolicy', call, mapping, { allowNetwrok: false }],
  ['formatResult: the option maxLength', 'formatResult', { stdout: '', stderr: '' }, { maxLength: 'all' }],
])('what cannot be used is named, and nothing is run: %s', async (what, name, ...args) => {
  const use = async () => functions[name]?.(...args)
  await expect(use()).rejects.toSatisfy(face.isAtipExecuteError)
  await expect(use()).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining(`${what} is missing or invalid.\nPass `),
  })
})

test('a batch answers a call that is none as well', async () => {
  const { results } = await executeBatch([undefined as never])
  expect(results[0]?.content).toContain('Error: the executor: the call is missing')
})

test('a rule that is undefined has its default', () => {
  const policy = { allowNetwork: undefined, minTrustLevel: undefined } as never
  expect(face.createExecutor({ tools: [tool], policy }).mapCommand('box_go')).toBeDefined()
})
