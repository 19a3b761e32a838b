import { expect, test } from 'vitest'
import { expandTool, safeParseTool, type ToolDefinition } from '../src/index.js'

// `tsc` reads this file, too: a line that it is told to refuse and does not is an error of its own.

test('a tool that is written out as a constant is taken as it is', () => {
  const written = {
    name: 'count',
    command: ['wc', '${flag}'],
    parameters: [{ name: 'flag', type: 'string', enum: ['-w', '-l'] }],
    substitute: true,
  } as const
  expect(expandTool(written).command).toEqual(['wc', '${flag}'])
})

test('the full form, and what safeParseTool accepted, are definitions', () => {
  const full: ToolDefinition = expandTool({ name: 'a', shell: 'ls -- ${x}', parameters: undefined })
  const parsed = safeParseTool(full)
  expect(parsed.ok && parsed.expanded).toEqual(full)
})

test('a mistyped key is refused by the compiler, of a tool and of a parameter', () => {
  // @ts-expect-error exec is meant
  expect(() => expandTool({ name: 'a', exce: 'ls' })).toThrow('Tool must specify exactly one of')
  // @ts-expect-error default is meant
  const parameters: ToolDefinition['parameters'] = [{ name: 'x', defualt: 1 }]
  expect(expandTool({ name: 'a', exec: 'ls ${x}', parameters }).parameters).toHaveLength(1)
})
