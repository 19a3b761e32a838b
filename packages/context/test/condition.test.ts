import { expect, test } from 'vitest'
import { placeWith } from './place.js'

async function used(condition: object, more: object = {}, files: Record<string, string> = {}) {
  const { build } = await placeWith({ 'agent/a.md': 'A', ...files })
  const { messages, blocks } = await build(
    { sources: [{ type: 'file', path: '${AGENT_HOME}/a.md', condition }] },
    more,
  )
  return messages.length === 1 ? true : blocks[0]?.note
}

test('task_contains is a regular expression over what users said, in any case of letters', async () => {
  const condition = { when: 'task_contains', pattern: 'API|endpoint' }
  expect(await used(condition, { task: 'Document the api.' })).toBe(true)
  expect(await used(condition, { task: 'Count.' })).toBe('left out: task_contains does not hold')
})

test('a pattern that takes too long is an error, and not the end of everything', async () => {
  const condition = { when: 'task_contains', pattern: '(a+)+$' }
  await expect(used(condition, { task: `${'a'.repeat(60)}!` })).rejects.toThrow(
    'context.yaml: the pattern (a+)+$ took longer than 1000 ms to search 61 characters.\nWrite one repetition: [ab]+ for (a+|b+)+.',
  )
  expect(await used(condition, { task: `"it's\n\u2028\` aaa` })).toBe(true)
})

test('file_exists looks for a file, in the workspace if not said otherwise', async () => {
  const files = { 'work/api.md': '' }
  expect(await used({ when: 'file_exists', path: '${CWD}/api.md' }, {}, files)).toBe(true)
  expect(await used({ when: 'file_exists', path: 'api.md' }, {}, files)).toBe(true)
  expect(await used({ when: 'file_exists', path: '${AGENT_HOME}/api.md' }, {}, files)).toBe(
    'left out: file_exists does not hold',
  )
})

test('env_set wants a value that is not empty', async () => {
  const condition = { when: 'env_set', name: 'VERBOSE' }
  expect(await used(condition, { environment: { VERBOSE: '1' } })).toBe(true)
  expect(await used(condition, { environment: { VERBOSE: '' } })).not.toBe(true)
})

test('iteration_at_least counts from 1', async () => {
  const condition = { when: 'iteration_at_least', count: 3 }
  expect(await used(condition, { iteration: 2 })).not.toBe(true)
  expect(await used(condition, { iteration: 3 })).toBe(true)
})
