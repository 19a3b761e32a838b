import { type ExpandedTool, expandTool } from '@delta/tool-expander'
import { expect, test } from 'vitest'
import { defineTool, safeDefineTool, type WrittenTool } from '../src/index.js'
import { decide } from '../src/internal.js'

// `tsc` reads this file, too: a line that it is told to refuse and does not is an error of its own.

test('a mistyped key is refused by the compiler, and by defineTool where nobody compiles', () => {
  // @ts-expect-error timeout_ms is meant
  expect(() => defineTool({ name: 'a', exec: 'ls', timeout: 5 })).toThrow('Did you mean "timeout_ms"?')
  // @ts-expect-error max_chars is meant
  expect(() => defineTool({ name: 'a', exec: 'ls', output: { max_char: 5 } })).toThrow('"max_chars"?')
  // @ts-expect-error required is meant
  const parameters: WrittenTool['parameters'] = [{ name: 'x', requird: false }]
  expect(() => defineTool({ name: 'a', exec: 'ls ${x}', parameters })).toThrow('"required"?')
})

test('what a key may hold is known to the compiler', () => {
  // @ts-expect-error a number is wanted
  expect(() => defineTool({ name: 'a', exec: 'ls', timeout_ms: '5' })).toThrow('timeout_ms: ')
})

test('keys of the author are taken, on a tool and on its parameters', () => {
  const parameters: WrittenTool['parameters'] = [{ name: 'x', type: 'integer', 'x-unit': 's' }]
  const tool = defineTool({ name: 'a', exec: 'sleep ${x}', parameters, env: { LEVEL: 1 }, 'x-owner': 'me' })
  expect(tool.settings.env).toEqual({ LEVEL: '1' })
})

test('a value of which nothing is known, as a parser gives it, comes by way of safeDefineTool, with every problem and warning', () => {
  const value: unknown = JSON.parse('{"name": "a", "exec": "ls", "timeout_ms": 5}')
  // @ts-expect-error it may be anything
  expect(defineTool(value).settings.timeoutMs).toBe(5)
  expect(safeDefineTool(value)).toMatchObject({
    ok: true,
    tool: defineTool({ name: 'a', exec: 'ls', timeout_ms: 5 }),
  })
  expect(safeDefineTool({ name: 'a', exec: 'a | b', critical: 5, timout_ms: 5 })).toMatchObject({
    ok: false,
    problems: [{ code: 'ERR_EXEC_METACHARACTER', column: 3 }, { path: 'critical' }],
    warnings: [{ path: 'timout_ms', nearest: 'timeout_ms', unknownKey: true }],
  })
  for (const input of ['ls', null, ['ls']])
    expect(safeDefineTool(input)).toMatchObject({
      ok: false,
      problems: [{ code: 'ERR_TOOL_SHAPE' }],
      warnings: [],
    })
})

test('a tool in its full form is taken as it is', () => {
  const full: ExpandedTool = expandTool({ name: 'a', exec: 'ls ${x}' })
  expect(defineTool(full).expanded).toEqual(full)
})

test('a tool that is written out as a constant is taken as it is', () => {
  const written = {
    name: 'count',
    command: ['wc', '${flag}'],
    parameters: [{ name: 'flag', type: 'string', enum: ['-w', '-l'] }],
    timeout_ms: 5000,
    pass_env: ['TOKEN'],
    env: { LEVEL: 1 },
    effects: { network: false, filesystem: { paths: ['a.txt'] }, deletes: ['a.txt'] },
    sandbox: { write: ['CWD'] },
  } as const
  expect(defineTool(written).settings.timeoutMs).toBe(5000)
  expect(decide(written.effects, undefined).decision).toBe('allow')
})
