import { type TemporaryWorkspace, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

const MISTYPED = 'name: mistyped\nllm: { provider: script, script: script.yaml }\nmax_iteration: 3\n'

function mistypedAgent(): Promise<TemporaryWorkspace> {
  return temporaryAgent({ files: { 'my-agent/agent.yaml': MISTYPED, ...OTHER_FILES } })
}

const OTHER_FILES = {
  'my-agent/context.yaml': 'sources: [{ type: journal }]\n',
  'my-agent/script.yaml': '- content: Done.\n',
}

test('a warning of the configuration has file and line, as the directory was typed, and what to do', async () => {
  await using parent = await mistypedAgent()
  await using workspace = await temporaryWorkspace({})
  const run = ['run', '--agent', 'my-agent', '-m', 'Go', '-w', workspace.path]
  const { stderr, exitCode } = await delta(run, { cwd: parent.path })
  expect(exitCode).toBe(0)
  expect(stderr).toMatch(/^my-agent\/agent\.yaml:3:1: .*max_iteration/m)
  expect(stderr).toMatch(/^ {2}max_iteration: 3\n {2}\^$/m)
  expect(stderr).toMatch(/^Did you mean "max_iterations"\?$/m)
})

test('an error of the configuration names files as they were typed', async () => {
  await using parent = await mistypedAgent()
  const config = await delta(['config', '--agent', 'my-agent', '--strict'], { cwd: parent.path })
  expect(config.exitCode).toBe(2)
  expect(config.stderr).toContain('Error: my-agent/agent.yaml:3:1: ')

  const list = await delta(['tool', 'lint', './my-agent'], { cwd: parent.path })
  expect(list.stderr).toContain('Error: my-agent/agent.yaml:1:1: ')
})
