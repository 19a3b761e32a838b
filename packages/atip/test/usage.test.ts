import { foreignErrors } from '@delta/testkit'
import { expect, test } from 'vitest'
import * as atip from '../src/index.js'
import { box } from './helpers.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const tool = box({ go: { description: 'Go' } })
const functions = atip as unknown as Record<string, (...args: unknown[]) => unknown>

/** Every function, an argument that is wrong, and what the message begins with. */
const mistakes: [what: string, name: string, ...args: unknown[]][] = [
  ['toOpenAI: the argument options', 'toOpenAI', tool, null],
  ['toOpenAI: the option strict', 'toOpenAI', tool, { strict: 'yes' }],
  ['compileTools: the list of tools', 'compileTools', tool, 'openai'],
  ['compileTools: the provider', 'compileTools', [tool], 'azure'],
  ['compileTools: the argument options', 'compileTools', [tool], 'openai', null],
  ['indexLeaves: the list of tools', 'indexLeaves', undefined, 'first'],
  ['indexLeaves: the separator', 'indexLeaves', [tool], 'first', 7],
  ['leavesOf: the separator', 'leavesOf', tool, null],
  ['commandLine: the leaf', 'commandLine', tool],
  ['commandLine: the leaf', 'commandLine', { tool, path: [null] }],
  ['commandLine: the leaf', 'commandLine', { path: ['go'] }],
  ['handleToolResult: the provider', 'handleToolResult', undefined, 'id', 'text'],
  ['handleToolResult: the id of the call', 'handleToolResult', 'openai', undefined, 'text'],
  ['generateSafetyPrompt: the list of tools', 'generateSafetyPrompt', null],
  ['createValidator: the list of tools', 'createValidator', undefined, {}],
  ['createValidator: the policy', 'createValidator', [tool], undefined],
  ['createValidator: the option allowNetwork', 'createValidator', [tool], { allowNetwork: 'false' }],
  ['createValidator: the rule allow_network', 'createValidator', [tool], { allow_network: false }],
  ['createValidator: the option minTrustLevel', 'createValidator', [tool], { minTrustLevel: 'orgs' }],
  ['createValidator: the option maxCostEstimate', 'createValidator', [tool], { maxCostEstimate: 0 }],
  ['createResultFilter: the list of tools', 'createResultFilter', undefined],
  ['createResultFilter: the argument options', 'createResultFilter', [], null],
  ['createResultFilter: the option maxLength', 'createResultFilter', [], { maxLength: 'all' }],
  ['createResultFilter: the option redactPatterns', 'createResultFilter', [], { redactPatterns: ['sk-'] }],
  ['createResultFilter: the option redactSecrets', 'createResultFilter', [], { redactSecrets: 0 }],
  ['truncate: the text', 'truncate', undefined, 5],
  ['truncate: the length', 'truncate', 'text', undefined],
  ['redact: the text', 'redact', undefined, []],
  ['redact: the list of patterns', 'redact', 'text', /s/],
  ['atipToTools: the argument options', 'atipToTools', tool, null],
  ['atipToTools: the option commands', 'atipToTools', tool, { commands: [7] }],
  ['atipToTools: the option prefix', 'atipToTools', tool, { prefix: 7 }],
  ['atipToTools: the option trust', 'atipToTools', tool, { trust: 'orgs' }],
  ['loadAtip: the source', 'loadAtip', undefined],
  ['loadAtip: the source', 'loadAtip', ['gh', '--agent']],
  ['loadAtip: the argument options', 'loadAtip', 'a.json', null],
  ['loadAtip: the option timeoutMs', 'loadAtip', 'a.json', { timeoutMs: '5s' }],
  ['loadAtip: the option signal', 'loadAtip', 'a.json', { signal: 5 }],
  ['loadAtip: the option environment', 'loadAtip', 'a.json', { environment: null }],
  ['trustOf: the tool', 'trustOf', undefined],
  ['lowerTrust: the trust that is granted', 'lowerTrust', 'org', 'orgs'],
  ['overlayEffects: what stands for the effects of the group', 'overlayEffects', undefined, {}],
  ['mergeEffects: what stands for the effects of the command', 'mergeEffects', undefined, {}],
  ['statesNothing: what it is given', 'statesNothing', undefined],
  ['costRank: the estimate', 'costRank', 'cheap'],
  ['isInteractive: what it is given', 'isInteractive', undefined],
  ['isRequired: the parameter', 'isRequired', 'name'],
  ['isRepeated: the parameter', 'isRepeated', undefined],
  ['valueType: the parameter', 'valueType', null],
  ['readValue: the parameter', 'readValue', undefined, 'text'],
  ['longFlag: the option', 'longFlag', { flags: '--all' }],
  ['versionNotice: the tool', 'versionNotice', undefined],
]

test.each(mistakes)('what cannot be used is named: %s', async (what, name, ...args) => {
  const call = async () => functions[name]?.(...args)
  await expect(call()).rejects.toSatisfy(atip.isAtipError)
  await expect(call()).rejects.toMatchObject({
    code: 'ERR_ATIP_USAGE',
    message: expect.stringContaining(`${what} is missing or invalid.\nPass `),
  })
})

test('no function answers any value with an error that is not of this package', async () => {
  expect(await foreignErrors(atip, { isOwn: atip.isAtipError })).toEqual([])
})

test('a result that leads back to itself is refused by name', () => {
  const result: Record<string, unknown> = {}
  result.self = result
  expect(() => atip.handleToolResult('openai', 'call_1', result)).toThrow(
    /^handleToolResult: the result cannot be written as JSON \(Converting circular structure to JSON/,
  )
})

test('metadata that holds what no JSON holds is refused with the place', () => {
  expect(() => atip.toOpenAI({ ...tool, version: 1n as never })).toThrow('version must be a text, not 1n.')
})

test('a word with a NUL byte is a command that cannot be started', async () => {
  await expect(atip.loadAtip({ command: ['gh', 'a\0b'] })).rejects.toMatchObject({ code: 'ERR_ATIP_COMMAND' })
})
