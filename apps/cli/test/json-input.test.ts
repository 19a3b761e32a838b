import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { callTool, refusalOf } from './call-tool.js'
import { delta, journalOf } from './delta.js'

const EDIT = {
  description: 'Replace texts in a file.',
  exec: 'node ${AGENT_HOME}/edit.mjs',
  stdin: 'json',
  parameters: [
    { name: 'path', description: 'Which file.' },
    {
      name: 'edits',
      description: 'What to replace.',
      type: 'array',
      items: {
        type: 'object',
        properties: { old: { type: 'string' }, new: { type: 'string' } },
        required: ['old', 'new'],
      },
    },
  ],
}

test('a tool with stdin: json reads every argument as one JSON object, whatever it begins with', async () => {
  const args = { edits: [{ new: '- c', old: '-b "\n' }], path: '-a.py' }
  await using called = await callTool({ ...EDIT, exec: 'cat' }, args)
  const json = '{"path":"-a.py","edits":[{"new":"- c","old":"-b \\"\\n"}]}'
  expect(called.result).toMatchObject({ status: 'SUCCESS', observation_content: json })
  expect(called.request).toMatchObject({ argv: ['cat'], tool_args: args })

  await using refused = await callTool({ ...EDIT, exec: 'cat' }, { path: 'a', edits: [{ old: 'b' }] })
  expect(refused.result.observation_content).toBe(
    'ERROR: the arguments of "tool" were not accepted. Nothing was run.\n- "edits[0].new" is missing.\nIts parameters: path (string, required), edits (array, required).',
  )
})

test('tool expand shows where each value goes, and what it prints is the same tool', async () => {
  const files = await temporaryWorkspace(
    { 'tools.yaml': JSON.stringify({ tools: [{ name: 'edit', ...EDIT, exec: 'edit ${path}' }] }) },
    { onCleanup: onTestFinished },
  )
  const { stdout, exitCode } = await delta(['tool', 'expand', 'tools.yaml'], { cwd: files.path })
  expect(exitCode).toBe(0)
  expect(stdout).toContain('inject_as: json')
  expect(stdout).toContain('stdin: json')
  await files.write('again.yaml', stdout)
  expect((await delta(['tool', 'expand', 'again.yaml'], { cwd: files.path })).stdout).toBe(stdout)
  expect((await delta(['tool', 'list', 'again.yaml'], { cwd: files.path })).stdout).toContain(
    'edit(path, edits)',
  )
})

test('tool lint names free text that is refused where it begins with a dash, and stdin: json is a way out', async () => {
  const files = await temporaryWorkspace(
    {
      'tools.yaml': JSON.stringify({
        tools: [
          {
            name: 'add',
            description: 'Add a line.',
            exec: 'echo ${new}',
            parameters: [{ name: 'new', description: 'It.' }],
          },
          { name: 'edit', ...EDIT },
        ],
      }),
    },
    { onCleanup: onTestFinished },
  )
  const { stdout, exitCode } = await delta(['tool', 'lint', 'tools.yaml'], { cwd: files.path })
  expect(exitCode).toBe(1)
  expect(stdout).toBe(
    `tools.yaml:1: add: exec: … \${new}: a value that begins with "-" (a list item, a diff line) is refused at call time. (option-like-values)\nUse stdin: json, put -- before it, or set allow_dash: true.\n`,
  )
})

test('the author hears once a run, on stderr, what to change for values that begin with a dash', async () => {
  const call = (text: string) => ({ tool_calls: [{ name: 'add', arguments: { text } }] })
  await using agent = await temporaryAgent({
    tools: [{ name: 'add', exec: 'echo ${text}' }],
    turns: [call('-a'), call('--b'), { content: 'Done.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
  const advice =
    'add: a value of "text" that begins with "-" was refused. If such values are right, use stdin: json, put -- before it, or set allow_dash: true.'
  expect(stderr.split('\n').filter((line) => line === `note: ${advice}`)).toHaveLength(1)
  expect((await journalOf(workspace.path)).at(-1)).toMatchObject({ type: 'ENGINE_END', warnings: [advice] })
})

test.each([
  [
    { exec: 'x', stdin: ['old', 'new'] },
    'stdin takes one parameter.',
    'For several write stdin: json: the program then reads {"old": …, "new": …} from stdin.',
  ],
  [
    { ...EDIT, parameters: [{ name: 'p', type: 'array', items: { type: 'text' } }] },
    "items.type of 'p' must be one of: string, integer, number, boolean, array, object, null",
    '',
  ],
  [{ exec: 'x', input_schema: { type: 'object' } }, 'input_schema needs stdin: json', 'Add stdin: json.'],
  [
    { exec: 'x', stdin: 'json', input_schema: { type: 'object', required: 'a' } },
    'input_schema.required must be a list of names',
    '',
  ],
  [
    { exec: 'x', parameters: [{ name: 'p', type: 'dict' }] },
    'parameters[0].type must be one of: string, integer, number, boolean, array, object',
    '',
  ],
])('%j is refused with its place and what to write', async (definition, message, hint) => {
  const refusal = await refusalOf(definition)
  expect(refusal).toMatch(/agent\.yaml:\d+:\d+: tools\[0\] "tool": /)
  expect(refusal).toContain(message)
  expect(refusal).toContain(hint)
})
