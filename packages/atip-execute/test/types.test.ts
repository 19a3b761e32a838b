import { expect, test } from 'vitest'
import { createExecutor, executeCommand, mapToCommand } from '../src/index.js'

// `tsc` reads this file, too: what it refuses here, it would refuse to every program with strict settings.

const maybe = <Value>(value: Value): Value | undefined => value
const tool = {
  atip: '0.6',
  name: 'echo',
  version: '1.0.0',
  description: 'Prints',
  commands: {
    say: { description: 'Say', arguments: [{ name: 'text', type: 'string' }], effects: { network: false } },
  },
} as const
const call = { id: '1', name: 'echo_say', arguments: { text: 'hi' } } as const

test('metadata and calls that are written out as constants are taken as they are', async () => {
  expect((await createExecutor({ tools: [tool] as const }).execute(call)).content).toBe('say hi\n')
})

test('an option may be undefined', async () => {
  const { execute, executeBatch } = createExecutor({
    tools: [tool],
    policy: maybe({ allowNetwork: maybe(true) }),
    execution: { timeout: maybe(5000), cwd: undefined, env: undefined, skipValidation: undefined },
    output: { maxLength: maybe(100) },
  })
  expect((await execute(call)).success).toBe(true)
  const options = { parallel: maybe(true), continueOnError: undefined, maxConcurrency: undefined }
  expect((await executeBatch([call] as const, options)).successCount).toBe(1)
  expect((await executeCommand(['true'], { timeout: maybe(5000), shell: undefined })).exitCode).toBe(0)
  expect(mapToCommand('echo_say', [tool], { separator: undefined })?.command).toEqual(['echo', 'say'])
})
