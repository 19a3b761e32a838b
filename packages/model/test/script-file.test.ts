import { expect, test } from 'vitest'
import { safeParseScript } from '../src/internal.js'

const EXAMPLE =
  'A turn looks like this: { content: "Hello." } or { tool_calls: [{ name: read, arguments: { file: a.txt } }] }.'

test('a script is a list of turns with content, tool calls or both', () => {
  const turns = [
    { content: '' },
    {
      tool_calls: [
        { name: 'read' },
        { name: 'read', arguments: { file: 'a.txt' } },
        { name: 'read', arguments: '{"' },
      ],
    },
    { content: 'Both.', tool_calls: [{ name: 'read', arguments: {} }] },
  ]
  expect(safeParseScript(turns)).toEqual({ ok: true, turns })
})

test.each([
  [null, 'Must be a list, not nothing.'],
  ['Hello.', 'Must be a list, not "Hello.".'],
  [{ content: 'Hello.' }, 'Must be a list, not a mapping.'],
  [[], 'Must not be empty.'],
])('%j is not a script', (input, message) => {
  expect(safeParseScript(input)).toEqual({ ok: false, problems: [{ path: '', message, hint: EXAMPLE }] })
})

test('every problem is reported, with its place', () => {
  const parsed = safeParseScript([
    'Hello.',
    {},
    { content: 5 },
    { contents: 'Hello.' },
    { tool_calls: { name: 'read' } },
    {
      tool_calls: [
        null,
        { arguments: {} },
        { name: 'read', arguments: ['a.txt'] },
        { name: 'read', args: {} },
      ],
    },
  ])
  expect(parsed.ok ? [] : parsed.problems).toEqual([
    { path: '[0]', message: 'Must be a mapping, not "Hello.".', hint: EXAMPLE },
    { path: '[1]', message: 'A turn needs content or tool_calls, or both.', hint: EXAMPLE },
    { path: '[2].content', message: 'Must be a string, not 5.', hint: EXAMPLE },
    { path: '[3].contents', message: 'Unknown key. Known: content, tool_calls.' },
    { path: '[3]', message: 'A turn needs content or tool_calls, or both.', hint: EXAMPLE },
    { path: '[4].tool_calls', message: 'Must be a list, not a mapping.', hint: EXAMPLE },
    { path: '[5].tool_calls[0]', message: 'Must be a mapping, not nothing.', hint: EXAMPLE },
    { path: '[5].tool_calls[1].name', message: 'Must be a string, not nothing.', hint: EXAMPLE },
    {
      path: '[5].tool_calls[2].arguments',
      message: 'Must be a mapping, or a string that is passed on as it is, not a list.',
      hint: EXAMPLE,
    },
    { path: '[5].tool_calls[3].args', message: 'Unknown key. Known: name, arguments.' },
  ])
})
