import { fileURLToPath } from 'node:url'
import { runProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { hooks, scene } from './run.js'

const PROGRAM = fileURLToPath(new URL('./leaving-process.mjs', import.meta.url))

const CONTEXT = `sources:
  - { type: computed_file, generator: { command: [uname] }, output_path: system.txt }
  - { type: journal, id: conversation }
`

/** What left an engine, in order. */
async function leaving(...message: string[]): Promise<string[]> {
  const { agentFiles, workspace } = await scene({
    tools: [{ name: 'work', exec: 'true', effects: { destructive: true } }],
    agent: { policy: { on_confirmation: 'ask_human' } },
    files: { ...hooks({ pre_tool_execution: 'true' }), 'context.yaml': CONTEXT },
  })
  const { stdout } = await runProcess(
    [process.execPath, PROGRAM, agentFiles.path, workspace.path, ...message],
    { env: { PATH: process.env.PATH } },
  )
  return stdout.trimEnd().split('\n')
}

test('the journal, a password and the copy of the agent are on disk before anything leaves the process', async () => {
  expect(await leaving()).toEqual([
    'uname starts', // the generator
    'a request',
    'a question',
    'the question is removed',
    'uname starts',
    'a request',
    'sh starts', // the hook
    'a question',
    'the question is removed',
    'true starts',
    'uname starts',
    'a request',
    'a request', // the same again: the server was busy
    'the end',
  ])
})

test('a message is on disk before the notice that it was kept', async () => {
  expect(await leaving('go on')).toEqual([
    'uname starts',
    'a request',
    'sh starts',
    'the end',
    'a notice',
    'sh starts',
    'the end',
  ])
})
