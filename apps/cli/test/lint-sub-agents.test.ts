import { temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

/** What lint says of the message of a sub-agent. */
async function lint(tool: object): Promise<string[]> {
  const tools = [{ name: 'ask', description: 'x', ...tool }]
  await using files = await temporaryWorkspace({ 'tools.json': JSON.stringify(tools) })
  const { stdout } = await delta(['tool', 'lint', `${files.path}/tools.json`, '--json'])
  const findings: { rule: string; message: string }[] = JSON.parse(stdout)
  return findings.filter(({ rule }) => rule === 'message-as-file').map(({ message }) => message)
}

const ON_STDIN = 'Write -m - there, and as a key of the tool: stdin: task'

test.each([
  [{ exec: 'delta run --agent x -m ${task} -q' }, 'exec', ON_STDIN],
  [{ exec: 'delta run --agent x --message=${task}' }, 'exec', ON_STDIN],
  [{ exec: 'delta continue -w job --message ${task}' }, 'exec', ON_STDIN],
  [
    {
      command: ['delta', 'run'],
      parameters: [{ name: 'task', type: 'string', inject_as: 'option', option_name: '--message' }],
    },
    'command',
    'Add -m and - to the command, and give the parameter inject_as: stdin.',
  ],
])('lint says of %j that a task may be read as a file, and what to write', async (tool, path, advice) => {
  expect(await lint(tool)).toEqual([
    expect.stringContaining(
      `tools.json:1: ask: ${path}: "task" follows -m, where a text that begins with "@" is read as a file, and "-" as stdin. (message-as-file)\n${advice}`,
    ),
  ])
})

test.each([
  { exec: 'delta run --agent x -m - -w job', stdin: 'task' },
  {
    command: ['delta', 'run', '-m', '-'],
    parameters: [{ name: 'task', type: 'string', inject_as: 'stdin' }],
  },
  { exec: 'delta run --agent x -m Review -w ${job}' },
  { exec: 'delta run -m ${task}', parameters: [{ name: 'task', enum: ['review', 'test'] }] },
  { exec: 'git commit -m ${task}' },
])('lint has nothing to say of %j', async (tool) => {
  expect(await lint(tool)).toEqual([])
})
