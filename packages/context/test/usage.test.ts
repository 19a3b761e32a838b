import { foreignErrors } from '@delta/testkit'
import { expect, test } from 'vitest'
import * as context from '../src/index.js'
import { placeWith } from './place.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const functions = context as unknown as Record<string, (...args: unknown[]) => unknown>

test.each<[what: string, name: string, ...args: unknown[]]>([
  ['buildContext: the manifest', 'buildContext', undefined, {}],
  ['buildContext: the manifest', 'buildContext', { sources: 'journal' }, {}],
  ['findCacheBreak: the earlier context', 'findCacheBreak', undefined, undefined],
  ['findCacheBreak: the later context', 'findCacheBreak', { messages: [], blocks: [] }, {}],
  ['followJournal: the path', 'followJournal', undefined],
  ['conversationFromEvents: the list of events', 'conversationFromEvents', 'journal.jsonl'],
  ['conversationFromEvents: the list of events', 'conversationFromEvents', [null]],
  [
    'conversationFromEvents: the list of events',
    'conversationFromEvents',
    [{ type: 'THOUGHT', content: '' }],
  ],
  [
    'conversationFromEvents: the list of events',
    'conversationFromEvents',
    [{ type: 'THOUGHT', content: '', tool_calls: [null] }],
  ],
  ['conversationFromEvents: the list of events', 'conversationFromEvents', [{ type: 'USER_MESSAGE' }]],
  ['estimateTokens: the number of bytes', 'estimateTokens', 'text'],
  ['estimateTokens: the calibration', 'estimateTokens', 4, null],
  ['replaceVariables: the text', 'replaceVariables', undefined, {}],
  ['replaceVariables: the object of variables', 'replaceVariables', 'a', { CWD: '/' }],
])('what cannot be used is named: %s', async (what, name, ...args) => {
  await expect(async () => functions[name]?.(...args)).rejects.toMatchObject({
    code: 'ERR_CONTEXT_USAGE',
    message: expect.stringContaining(`${what} is missing or invalid.\nPass `),
  })
})

test.each([
  ['journalPath', [null]],
  ['journalPath', {}],
  ['countTokens', 'count.py'],
  ['calibration', null],
])('without a usable %s nothing is built, and the option is named', async (option, value) => {
  const { options } = await placeWith()
  const built = functions.buildContext?.({ sources: [{ type: 'journal' }] }, { ...options, [option]: value })
  await expect(built).rejects.toMatchObject({
    code: 'ERR_CONTEXT_USAGE',
    message: expect.stringContaining(`buildContext: the option ${option} is missing`),
  })
})

test('no function answers any value with an error that is not of this package', async () => {
  expect(await foreignErrors(context, { isOwn: context.isContextError })).toEqual([])
})
