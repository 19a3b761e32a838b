import { describe, expect, test } from 'vitest'
import { formatProblem, parseTool, type ToolProblem } from '../src/index.js'

function problemsOf(definition: object): ToolProblem[] {
  const parsed = parseTool({ name: 'tool', ...definition })
  return parsed.ok ? [] : parsed.problems
}

test('a problem says where, what, and what to write instead', () => {
  const [problem] = problemsOf({ exec: 'cat ${file} | wc -l' })
  if (problem === undefined) throw new Error('accepted')
  expect(problem).toMatchObject({ code: 'ERR_EXEC_METACHARACTER', path: 'exec', line: 1, column: 13 })
  expect(formatProblem(problem, 'agent.yaml:14:18: tools[2] "count_lines"')).toBe(
    [
      `agent.yaml:14:18: tools[2] "count_lines": Shell metacharacter '|' not allowed in exec: mode. Use shell: mode or remove pipe.`,
      '  exec: "cat ${file} | wc -l"',
      '                     ^',
      'In shell: parameters are passed safely quoted, too. Or write command: as an array.',
    ].join('\n'),
  )
})

describe('the caret stands below its character', () => {
  const caret = (template: string): string[] =>
    formatProblem(problemsOf({ exec: template })[0] as ToolProblem)
      .split('\n')
      .slice(1, 3)

  test('in a template of several lines, on its line', () => {
    expect(caret('cat\n  ${file} | wc\n')).toEqual([
      '  exec, line 2:   ${file} | wc',
      '                          ^',
    ])
    expect(problemsOf({ exec: 'cat\n  ${file} | wc\n' })).toMatchObject([{ line: 2, column: 11 }])
  })

  test('behind wide characters and tabs', () => {
    expect(caret('echo 日本 | x')).toEqual(['  exec: "echo 日本 | x"', '                   ^'])
    expect(caret('echo 🙂\t| x')).toEqual(['  exec: "echo 🙂\t| x"', '                \t^'])
  })
})

test('a problem without a template is its message and hint', () => {
  expect(formatProblem({ path: 'stdin', message: 'No.', hint: 'Yes.' })).toBe('No.\nYes.')
  expect(formatProblem({ path: 'stdin', message: 'No.' }, 'here')).toBe('here: No.')
})

test('problems of the shape do not hide those of the template', () => {
  expect(problemsOf({ name: 'a b', exec: 'a | b' }).map(({ code }) => code)).toEqual([
    'ERR_TOOL_NAME',
    'ERR_EXEC_METACHARACTER',
  ])
  expect(problemsOf({ name: 'a b', shell: 'echo `${x}`' }).map(({ code }) => code)).toEqual([
    'ERR_TOOL_NAME',
    'ERR_SHELL_CODE',
  ])
})

test('problems of the parameters do not hide those of the template', () => {
  const parameters = [{ name: 'file', pattern: '(' }, { name: 'file' }]
  expect(problemsOf({ exec: 'cat ${file} | wc', parameters }).map(({ path }) => path)).toEqual([
    'exec',
    'parameters[0].pattern',
    'parameters[1].name',
  ])
})
