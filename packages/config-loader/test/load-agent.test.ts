import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { loadAgent } from '../src/index.js'
import { agentOf, complaint, complaintAbout, directoryOf, load, texts } from './agents.js'

test('an agent is its name, its model, its tools, its recipe and its hooks', async () => {
  const { agent, warnings, home } = await load({
    'agent.yaml': `name: searcher
version: 1.2.0
description: Searches.
llm: { model: gpt-4o, temperature: 0.2 }
max_iterations: 7
tools:
  - name: list_files
    exec: ls \${directory}
`,
    'hooks.yaml': 'on_run_end:\n  command: [delta-sessions, cleanup]\n',
  })

  expect(warnings).toEqual([])
  expect(agent).toMatchObject({
    home,
    name: 'searcher',
    version: '1.2.0',
    description: 'Searches.',
    llm: { provider: 'openai', model: 'gpt-4o', parameters: { temperature: 0.2 } },
    maxIterations: 7,
    toolConcurrency: 1,
    hooks: { on_run_end: { command: ['delta-sessions', 'cleanup'], timeoutMs: 30_000, passEnv: [] } },
  })
  expect([...agent.tools.keys()]).toEqual(['list_files'])
  expect(agent.tools.get('list_files')?.expanded.command).toEqual(['ls'])
  expect(agent.manifest.sources.map(({ type }) => type)).toEqual(['file', 'journal'])
})

test('a missing directory is named', async () => {
  const message = await loadAgent('no/such/agent', { env: {} }).catch((error: Error) => error.message)
  expect(message).toBe("no/such/agent: the agent's directory does not exist.")
})

test('one that is a link to itself is said to be there, and not to be made', async () => {
  const home = await directoryOf({})
  await symlink('agent', join(home, 'agent'))
  expect(await complaintAbout(join(home, 'agent'))).toContain(
    "agent: the agent's directory is a symbolic link that leads to itself.",
  )
})

test('a directory without agent.yaml names the agents inside of it', async () => {
  const home = await directoryOf({ 'one/agent.yaml': '', 'two/agent.yaml': '' })
  expect(await complaintAbout(home)).toBe(`agent: holds no agent.yaml.
Agents inside of it: agent/one, agent/two`)
})

test('agent.yml is not read, and that is said', async () => {
  const home = await directoryOf({ 'agent.yml': 'name: x' })
  expect(await complaintAbout(home)).toBe(
    'agent: holds no agent.yaml.\nRename agent/agent.yml to agent.yaml.',
  )
})

test('a file in place of the agent directory is understood', async () => {
  const home = await agentOf()
  expect(await complaintAbout(join(home, 'agent.yaml'))).toContain('is a file, but an agent is a directory.')
})

test('a mistake inside a template is shown at its column in the file', async () => {
  const text = 'name: a\nllm: { model: x }\ntools:\n  - name: count\n    exec: "cat ${file} | wc -l"\n'
  expect(await complaint({ 'agent.yaml': text })).toContain(`agent/agent.yaml:5:24: tools[0] "count": `)
  expect(await complaint({ 'agent.yaml': text })).toContain(`
  exec: "cat \${file} | wc -l"
                     ^
`)
})

test('without context.yaml the message holds one to paste, which reads the file that system_prompt names', async () => {
  const home = await agentOf({
    'agent.yaml': 'name: a\nllm: { model: x }\nsystem_prompt: prompts/main.md\n',
    'prompts/main.md': 'Hi.',
    'context.yaml': undefined,
  })
  const error = await loadAgent(home, { env: {} }).catch((error: unknown) => error)
  expect(error).toMatchObject({ code: 'ERR_CONFIG_CONTEXT_MISSING' })
  expect((error as Error).message).toBe(`Error: context.yaml not found in ${home}

Delta Engine requires an explicit context.yaml file to define how
the agent's attention window is constructed.

Quick fix - Create context.yaml with default content:

sources:
  - type: file
    id: system_prompt
    path: '\${AGENT_HOME}/prompts/main.md'
  - type: file
    id: workspace_guide
    path: '\${CWD}/DELTA.md'
    on_missing: skip
  - type: journal
    id: conversation_history

For more information, see:
https://github.com/delta-engine/delta/blob/main/packages/context/README.md`)
})

test('every problem of every file is reported at once', async () => {
  const message = await complaint({
    'agent.yaml': 'name: 5\nllm: {}\ntools:\n  - exec: ls\n',
    'hooks.yaml': 'on_eror: { command: [x] }\n',
    'context.yaml': 'sources: []\n',
  })
  expect(
    message.split('\n').filter((line) => line.startsWith('agent/') || line.endsWith('problems.')),
  ).toEqual([
    'agent/agent.yaml:1:7: name: must be a text, not 5.',
    'agent/agent.yaml:2:1: llm.model: The provider openai needs it.',
    expect.stringMatching(/^agent\/agent\.yaml:4:5: tools\[0\]: name /),
    'agent/hooks.yaml:1:1: There is no hook "on_eror"; it would never be called.',
    'agent/context.yaml:1:10: sources: must not be empty.',
    '5 problems.',
  ])
})

test('unknown keys are warnings with the name that was probably meant', async () => {
  const { warnings, home } = await load({
    'agent.yaml': `name: a
llm: { model: x }
max_iteration: 5
x-owner: me
tools:
  - name: list
    exec: ls
    timeout: 5
`,
  })
  expect(texts(warnings, home)).toEqual([
    'agent/agent.yaml:3: unknown key "max_iteration". Did you mean "max_iterations"?',
    'agent/agent.yaml:8: tools[0]: unknown key "timeout". Did you mean "timeout_ms"?',
  ])
})

test('unknown keys inside of a tool are found at every level', async () => {
  const { warnings, home } = await load({
    'agent.yaml': `name: a
llm: { model: x }
tools:
  - name: list
    exec: ls \${directory}
    parameters:
      - name: directory
        requird: false
        x-mine: 1
    effects: { netwrk: true }
    output: { max_char: 5 }
`,
  })
  expect(texts(warnings, home)).toEqual([
    'agent/agent.yaml:8: tools[0].parameters[0]: unknown key "requird". Did you mean "required"?',
    'agent/agent.yaml:10: tools[0].effects: unknown key "netwrk". Did you mean "network"?',
    'agent/agent.yaml:11: tools[0].output: unknown key "max_char". Did you mean "max_chars"?',
  ])
})

test('what other tools call a key is known by its meaning, not by its letters', async () => {
  const { warnings, home } = await load({
    'agent.yaml': `name: a
llm: { model: x }
tools:
  - { name: list, exec: ls, cmd: [ls], args: [] }
`,
  })
  expect(texts(warnings, home)).toEqual([
    'agent/agent.yaml:4: tools[0]: unknown key "cmd". Did you mean "command"?',
    'agent/agent.yaml:4: tools[0]: unknown key "args". Did you mean "parameters"?',
  ])
})

test('what is deprecated is told also when something else is wrong', async () => {
  const message = await complaint({ 'agent.yaml': 'name: 5\nllm_config: { model_name: x }\n' })
  expect(message).toContain('agent/agent.yaml:1:7: name: must be a text, not 5.')
  expect(message).toContain('agent/agent.yaml:2:1: [DEPRECATION WARNING] "llm_config" is now called "llm"')
})

test.each([
  ['an import', { 'agent.yaml': 'name: a\nllm: { model: x }\nimports: [~/tools.yaml]\n' }],
  ['a prompt', { 'agent.yaml': 'name: a\nllm: { model: x }\nsystem_prompt: ~/prompt.md\n' }],
  ['a script', { 'agent.yaml': 'name: a\nllm: { provider: script, script: ~/turns.yaml }\n' }],
])('a path that only a shell understands is said to be one: %s', async (_, files) => {
  expect(await complaint(files)).toContain('No shell reads this path: write out what "~" stands for.')
})

test('an agent under ~, as a flag behind "=" leaves it, is said to be one', async () => {
  expect(await complaintAbout('~/agents/clerk')).toBe(`agent: the agent's directory does not exist.
No shell reads this path: write out what "~" stands for.`)
})

test('with strict, an unknown key is an error', async () => {
  const text = 'name: a\nllm: { model: x }\nmax_iteration: 5\n'
  expect(
    await complaint({ 'agent.yaml': text }, { strict: true }),
  ).toBe(`agent/agent.yaml:3:1: unknown key "max_iteration".
  max_iteration: 5
  ^
Did you mean "max_iterations"?`)
})

test('a directory in place of agent.yaml is said to be one', async () => {
  const home = await directoryOf({})
  await mkdir(join(home, 'agent.yaml'))
  expect(await complaintAbout(home)).toContain('agent/agent.yaml: is a directory, not a file.')
})

test('a mistyped name is told together with what is missing because of it', async () => {
  const message = await complaint({
    'agent.yaml': 'name: a\nllm: { model: x }\ntools:\n  - { name: b, exce: ls }\n',
  })
  expect(message.split('\n').filter((line) => /^(agent|Besides|Did|It )/.test(line))).toEqual([
    'agent/agent.yaml:4:5: tools[0] "b": Tool must specify exactly one of: exec, shell, or command.',
    'Warnings:',
    'agent/agent.yaml:4:16: tools[0]: unknown key "exce".',
    'Did you mean "exec"?',
  ])
})

test('an agent as the test kit makes it loads without a warning', async () => {
  const agent = await temporaryAgent({ onCleanup: onTestFinished })
  expect((await loadAgent(agent.path, { env: {} })).warnings).toEqual([])
})

test('messages call the agent as the person did', async () => {
  const home = await agentOf({ 'agent.yaml': 'name: 5\nllm: { model: x }\n' })
  const load = (directory: string, shownAs: string) =>
    loadAgent(directory, { env: {}, shownAs }).catch((error: Error) => error.message)
  expect(await load(home, './mine')).toContain('mine/agent.yaml:1:7: name: must be a text, not 5.')
  expect(await load(join(home, 'no'), 'no')).toContain("no: the agent's directory does not exist.")
})

test('a directory without an agent is named as the person did', async () => {
  await using directory = await temporaryWorkspace({ 'files/notes.txt': 'mine\n' })
  const refusal = (shownAs: string) =>
    loadAgent(join(directory.path, shownAs), { env: {}, shownAs }).catch((error: Error) => error)
  const code = 'ERR_CONFIG_NOT_FOUND'
  expect(await refusal('.')).toMatchObject({ code, message: 'This directory holds no agent.yaml.' })
  expect(await refusal('files')).toMatchObject({ code, message: 'files: holds no agent.yaml.' })
})

test('a directory that nobody could have made is explained like any other that is not there', async () => {
  const failure = await loadAgent('x'.repeat(5000), { env: {}, shownAs: 'it' }).catch((error) => error)
  expect(failure).toMatchObject({
    code: 'ERR_CONFIG_NOT_FOUND',
    message: expect.stringMatching(/^it: the agent's directory cannot be read: ENAMETOOLONG/),
  })
})
