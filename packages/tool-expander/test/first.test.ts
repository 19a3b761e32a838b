import { expect, test } from 'vitest'
import { bindArguments, expandTool, parseTool, toFunctionTool } from '../src/index.js'

const variables = { AGENT_HOME: '/agent', CWD: '/work' }
function load(input: unknown) {
  const parsed = parseTool(input)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return expandTool(parsed.tool)
}

test('an exec: template whose placeholders are whole words at the end expands as the specification says', () => {
  expect(load({ name: 't', exec: 'bash -c ${script}' })).toEqual({
    name: 't',
    command: ['bash', '-c'],
    parameters: [
      {
        name: 'script',
        type: 'string',
        inject_as: 'argument',
        position: 0,
        required: true,
        allow_dash: false,
      },
    ],
    __meta: { syntax: 'exec', template: 'bash -c ${script}' },
  })
})
test('shell', () => {
  const tool = load({ name: 't', description: 'd', shell: 'grep ${pattern} "${file}" | wc -l', stdin: 'x' })
  expect(tool.command).toEqual(['sh', '-c', 'grep "$1" "$2" | wc -l', '--'])
  expect(bindArguments(tool, { pattern: 'a', file: 'b', x: 'in' }, { variables })).toEqual({
    ok: true,
    argv: ['sh', '-c', 'grep "$1" "$2" | wc -l', '--', 'a', 'b'],
    stdin: 'in',
  })
  expect(toFunctionTool(tool, { strict: true }).function.strict).toBe(true)
})
test('inside words', () => {
  const tool = load({ name: 't', exec: '${AGENT_HOME}/x.sh --name=${x} ${src} backup/' })
  expect(bindArguments(tool, { x: '-1', src: 's p' }, { variables })).toEqual({
    ok: true,
    argv: ['/agent/x.sh', '--name=-1', 's p', 'backup/'],
  })
  expect(bindArguments(tool, { x: '-1', src: '--help' }, { variables })).toMatchObject({ ok: false })
  expect(load(tool)).toEqual(tool)
})
