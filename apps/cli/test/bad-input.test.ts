import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

async function refused(args: string[], env: Record<string, string> = {}): Promise<string> {
  await using workspace = await temporaryWorkspace({})
  const result = await delta([...args, '-w', workspace.path], { cwd: workspace.path, env })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).not.toMatch(/^\s+at /m)
  expect(await workspace.files()).toEqual([])
  return result.stderr
}

test('an unknown command names the nearest one', async () => {
  expect(await refused(['rnu'])).toContain('Did you mean run?')
})

test.each([
  [['\u001b[31mx'], "Error: unknown command '\\x1b[31mx'\n"],
  [['tool', '\u001b[2J'], "Error: unknown command '\\x1b[2J'\n"],
  [['run', '--\u001b]0;x\u0007'], "Error: unknown option '--\\x1b]0;x\\x07'\n"],
  [['run', '--format', '\u001b[2J'], "argument '\\x1b[2J' is invalid"],
  [['run', '--agent', 'a\u202eb', '-m', 'x'], 'Error: a\\u202eb: '],
  [['sessions', '\u001b[2J\u202e'], 'There is no command "\\u{1b}[2J\\u{202e}"'],
])('what was typed is echoed with its control characters made visible: %j', async (words, echoed) => {
  await using directory = await temporaryWorkspace({})
  const { exitCode, stderr } = await delta(words, { cwd: directory.path })
  expect(exitCode).toBe(2)
  expect(stderr).toContain(echoed)
  expect(stderr).not.toMatch(/[\u001b\u0007\u202e]/)
})

test('an unknown flag names the nearest one', async () => {
  expect(await refused(['run', '--agnet', 'x', '-m', 'Go'])).toContain('Did you mean --agent?')
})

test('--task is refused with its new name', async () => {
  expect(await refused(['run', '--task', 'Go'])).toContain('--task is now -m/--message')
})

test('a missing agent directory is named', async () => {
  expect(await refused(['run', '--agent', '/nowhere/agent', '-m', 'Go'])).toContain('/nowhere/agent')
})

test('YAML that does not parse is shown with file, line, column and the line itself', async () => {
  await using agent = await temporaryAgent({
    files: { 'agent.yaml': 'name: broken\ntools: [\n  - name: x\n' },
  })
  const message = await refused(['run', '--agent', agent.path, '-m', 'Go'])
  expect(message).toMatch(/agent\.yaml:\d+:\d+/)
  expect(message).toMatch(/^\s+\^/m)
})

test('a missing context.yaml is answered with a template that reads the prompt this agent has', async () => {
  await using agent = await temporaryAgent({})
  await rm(join(agent.path, 'context.yaml'))
  const message = await refused(['run', '--agent', agent.path, '-m', 'Go'])
  expect(message).toContain(`Error: context.yaml not found in ${agent.path}`)
  expect(message).toContain('Quick fix - Create context.yaml with default content:')
  expect(message).toContain("path: '${AGENT_HOME}/system_prompt.md'")
})

test('a tool with two execution modes is refused', async () => {
  await using agent = await temporaryAgent({ tools: [{ name: 'both', exec: 'echo a', shell: 'echo b' }] })
  const message = await refused(['run', '--agent', agent.path, '-m', 'Go'])
  expect(message).toContain('exec:, shell:, and command: are mutually exclusive')
})

test('without a key the three ways on are named, and nothing is written', async () => {
  await using agent = await temporaryAgent({ agent: { llm: { model: 'gpt-4o' } } })
  const message = await refused(['run', '--agent', agent.path, '-m', 'Go'])
  expect(message).toContain('DELTA_API_KEY=')
  expect(message).toContain('DELTA_BASE_URL=')
  expect(message).toContain('delta init demo -t hello-world')
})

test('continue without a run says how to start one', async () => {
  const message = await refused(['continue'])
  expect(message).toContain('Error: No existing run found in the work directory')
  expect(message).toContain('Hint: Use `delta run` to start a new run')
})

test('continue in a directory that is not there says so, and names the nearest that is', async () => {
  await using workspace = await temporaryWorkspace({})
  const { exitCode, stderr } = await delta(['continue', '-w', join(workspace.path, 'shpo'), '-m', 'On'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('there is no such directory. Create it, or name another one.')
})

test('a run id that cannot name a directory is refused', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  expect(await refused(['run', '--agent', agent.path, '-m', 'Go', '--run-id', '../x'])).toContain(
    'cannot name a directory',
  )
})

test('a workspace that a refused command line made is taken away again', async () => {
  await using directory = await temporaryWorkspace({})
  await using agent = await temporaryAgent({ agent: { llm: { model: 'gpt-4o' } } })
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', 'new'], { cwd: directory.path })
  expect(result.exitCode).toBe(2)
  expect(await directory.has('new')).toBe(false)
})

test('a refused command line leaves no workspace beside the agent, and says nothing of one', async () => {
  await using agent = await temporaryAgent({ agent: { llm: { model: 'gpt-4o' } } })
  const limit = await delta(['run', '--agent', agent.path, '-m', 'Go', '--max-iterations', '0'])
  expect(limit).toMatchObject({
    exitCode: 2,
    stderr: 'Error: --max-iterations 0: give a whole number of at least 1.\n',
  })
  expect(await agent.has('workspaces')).toBe(false)
  const keyless = await delta(['run', '--agent', agent.path, '-m', 'Go'])
  expect(keyless.exitCode).toBe(2)
  expect(keyless.stderr).not.toContain('workspace')
  expect(await agent.has('workspaces/W001')).toBe(false)
  expect(await agent.has('workspaces/LAST_USED')).toBe(false)
})

test('a value may look like an option with one dash', async () => {
  expect(await refused(['run', '-m', '-work-dir=here'])).toContain('This directory holds no agent.yaml')
})
