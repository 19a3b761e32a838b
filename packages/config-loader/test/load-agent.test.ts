import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { parse } from 'yaml'
import { loadAgent } from '../src/index.js'
import { agentOf, complaint, complaintAbout, directoryOf, load, MINIMAL } from './agents.js'

test('an agent is its name, its model, its tools, its recipe and its hooks', async () => {
  const { agent, warnings, home } = await load({
    'agent.yaml': `name: searcher
version: 1.10
description: Searches.
llm: { model: gpt-4o, temperature: 0.2 }
max_iterations: 7
accept_empty: true
policy: { allow_network: false }
tools:
  - name: list_files
    exec: ls \${directory}
`,
    'hooks.yaml': `on_run_end: { command: [delta-sessions, cleanup] }
pre_llm_request: { command: ["\${AGENT_HOME}/x"], timeout_ms: 500, pass_env: [OPENAI_API_KEY] }
x-mine: { command: [ignored] }
`,
  })

  expect(warnings).toEqual([])
  expect(agent).toMatchObject({
    home,
    name: 'searcher',
    version: '1.10', // as it is written
    description: 'Searches.',
    llm: { provider: 'openai', model: 'gpt-4o', parameters: { temperature: 0.2 } },
    maxIterations: 7,
    toolConcurrency: 1,
    acceptEmpty: true,
    policy: { rules: { allowNetwork: false, allowDestructive: false } },
  })
  expect(agent.hooks).toEqual({
    on_run_end: { command: ['delta-sessions', 'cleanup'], timeoutMs: 30_000, passEnv: [] },
    pre_llm_request: { command: ['${AGENT_HOME}/x'], timeoutMs: 500, passEnv: ['OPENAI_API_KEY'] },
  })
  expect([...agent.tools.keys()]).toEqual(['list_files'])
  expect(agent.tools.get('list_files')?.expanded.command).toEqual(['ls'])
  expect(agent.manifest.sources.map(({ type }) => type)).toEqual(['file', 'journal'])
})

test('the options may be left out: then the environment is that of the process', async () => {
  const home = await agentOf()
  const { agent } = await loadAgent(home)
  expect((await loadAgent(home, {})).agent).toEqual(agent)
  vi.stubEnv('DELTA_IMPORT_ROOTS', 'not/absolute')
  await expect(loadAgent(home)).rejects.toThrow('DELTA_IMPORT_ROOTS: "not/absolute" is not an absolute path.')
  vi.unstubAllEnvs()
})

test('a link to itself in place of the directory is called one', async () => {
  const home = await directoryOf({})
  await symlink('agent', join(home, 'agent'))
  expect(await complaintAbout(join(home, 'agent'))).toContain(
    "agent: the agent's directory is a symbolic link that leads to itself.",
  )
})

test('a directory without agent.yaml names the agents inside of it', async () => {
  const home = await directoryOf({ 'one/agent.yaml': '', 'two/agent.yaml': '' })
  expect(await complaintAbout(home)).toBe(`agent: holds no agent.yaml.
Agents in it: agent/one, agent/two`)
})

test('a file in place of the agent directory is understood', async () => {
  const home = await agentOf()
  expect(await complaintAbout(join(home, 'agent.yaml'))).toContain('is a file, but an agent is a directory.')
})

test('without context.yaml the message holds one to paste, whatever the prompt file is called', async () => {
  const files = {
    'agent.yaml': `${MINIMAL['agent.yaml']}system_prompt: it's me.md\n`,
    "it's me.md": 'Hi.',
  }
  const home = await agentOf({ ...files, 'context.yaml': undefined })
  const error = await loadAgent(home, { env: {} }).catch((error: unknown) => error)
  expect(error).toMatchObject({ code: 'ERR_CONFIG_CONTEXT_MISSING' })
  const { message } = error as Error
  expect(message).toMatch(`context.yaml not found in ${home}\n`)
  const offered = message.slice(message.indexOf('sources:'), message.indexOf('\n\nFor more'))
  expect((parse(offered) as { sources: { path?: string }[] }).sources[0]?.path).toBe(
    "${AGENT_HOME}/it's me.md",
  )
  expect((await load({ ...files, 'context.yaml': offered })).warnings).toEqual([])
})

test('the prompt may not lead out of the agent, neither by a path nor by a link', async () => {
  const withPrompt = (path: string) => `${MINIMAL['agent.yaml']}system_prompt: ${path}\n`
  const outside = await directoryOf({ 'secret.md': 'x' })
  const home = await agentOf({ 'agent.yaml': withPrompt('link.md') })
  await symlink(join(outside, 'secret.md'), join(home, 'link.md'))
  expect(await complaintAbout(home)).toContain(`system_prompt: "link.md" leads out of the agent's directory.`)
  expect(await complaint({ 'agent.yaml': withPrompt('../../../../../../etc/passwd') })).toContain(
    `leads out of the agent's directory.`,
  )
})

test('the turns of a scripted model are read from the file that llm.script names', async () => {
  const main = 'name: a\nllm: { provider: script, script: turns.yaml }\n'
  const { agent } = await load({
    'agent.yaml': main,
    'turns.yaml': '- { tool_calls: [{ name: list, arguments: {} }] }\n- { content: Done. }\n',
  })
  expect(agent.script).toEqual([{ tool_calls: [{ name: 'list', arguments: {} }] }, { content: 'Done.' }])
  const wrong = await complaint({ 'agent.yaml': main, 'turns.yaml': '- content: fine\n- content: 5\n' })
  expect(wrong).toContain('agent/turns.yaml:2:12: [1].content: ')
})

test('consent is to a tool that exists, and an error for any other', async () => {
  const tools = 'tools: [{ name: bash, exec: ls }]'
  const policy = (names: string) => `name: a\nllm: { model: x }\n${tools}\npolicy:\n  tools: ${names}\n`
  expect((await load({ 'agent.yaml': policy('{ bash: allow }') })).agent.policy).toMatchObject({
    tools: { bash: 'allow' },
  })
  expect(await complaint({ 'agent.yaml': policy('{ bsh: allow }') })).toBe(
    'agent/agent.yaml:5:12: policy.tools: there is no tool "bsh".\n  tools: { bsh: allow }\n           ^\nDid you mean "bash"?',
  )
  expect(await complaint({ 'agent.yaml': policy('{ bash: always }') })).toContain(
    'agent/agent.yaml:5:18: policy.tools.bash: must be allow, got "always".',
  )
})

test('an empty policy has the default of every rule, and a warning', async () => {
  const { agent, warnings } = await load({ 'agent.yaml': `${MINIMAL['agent.yaml']}policy:\n` })
  expect(agent.policy).toMatchObject({ onConfirmation: 'ask_human', rules: { allowDestructive: false } })
  expect(warnings).toMatchObject([{ line: 3, column: 1, message: /^policy is empty, so the defaults hold/ }])
})

test('parameters of the API pass through, also with strict, and x- keys are the author’s own', async () => {
  const text = 'name: a\nllm: { model: x, frobnicate: 1, top_k: 5, verbosity: low, x-note: cheap }\n'
  const { agent, warnings } = await load({ 'agent.yaml': text }, { strict: true })
  expect(agent.llm.parameters).toEqual({ frobnicate: 1, top_k: 5, verbosity: 'low' })
  expect(warnings).toEqual([])
})

test('a run keeps the resolved agent.yaml, and the other files as they are', async () => {
  const files = {
    'agent.yaml': `${MINIMAL['agent.yaml']}imports: [tools.yaml]\n`,
    'tools.yaml': 'tools:\n  - { name: list, exec: "ls ${directory}" }\n',
    'hooks.yaml': '# mine\non_error: { command: [x] }\n',
  }
  const { agent } = await load(files)
  const { files: kept, config } = agent.snapshot
  expect(Object.keys(kept).sort()).toEqual(['agent.yaml', 'context.yaml', 'hooks.yaml', 'system_prompt.md'])
  expect(kept['hooks.yaml']).toBe('# mine\non_error: { command: [x] }\n')
  expect(kept['system_prompt.md']).toBe('You test.\n')
  expect(parse(kept['agent.yaml'] ?? '')).toEqual(config)
  expect(config).toMatchObject({ name: 'tester', tools: [{ name: 'list', command: ['ls'] }] })
  expect(config).not.toHaveProperty('imports')
  expect((await load(files)).agent.snapshot).toEqual(agent.snapshot)
})

test('values whose names say that they are secret are masked: the snapshot is written into every run', async () => {
  const { agent } = await load({
    'agent.yaml': `${MINIMAL['agent.yaml']}tools:
  - name: push
    exec: push
    env: { GITHUB_TOKEN: ghp_1, MODE: fast, DB_PASSWORD: p }
  - name: open
    exec: open
    env: { DOOR_PASSWORD: 31415926, FLOOR: 3 }
`,
  })
  expect(agent.tools.get('push')?.settings.env).toMatchObject({ GITHUB_TOKEN: 'ghp_1' })
  expect(agent.snapshot.config).toMatchObject({
    tools: [
      { env: { GITHUB_TOKEN: '***', MODE: 'fast', DB_PASSWORD: '***' } },
      { env: { DOOR_PASSWORD: '***', FLOOR: 3 } },
    ],
  })
  expect(JSON.stringify(agent.snapshot)).not.toMatch(/ghp_1|31415926/)
})

test('an agent as the test kit makes it loads without a warning', async () => {
  const agent = await temporaryAgent({ onCleanup: onTestFinished })
  expect((await loadAgent(agent.path, { env: {} })).warnings).toEqual([])
})

test('messages name the agent as the person did', async () => {
  const home = await agentOf({ 'agent.yaml': 'name: 5\nllm: { model: x }\n' })
  const load = (directory: string, shownAs: string) =>
    loadAgent(directory, { env: {}, shownAs }).catch((error: Error) => error.message)
  expect(await load(home, './mine')).toContain('mine/agent.yaml:1:7: name: must be a string, got 5.')
  expect(await load(join(home, 'no'), 'no')).toContain("no: the agent's directory does not exist.")
})

test('a directory without an agent is named as the person named it', async () => {
  await using directory = await temporaryWorkspace({ 'files/notes.txt': 'mine\n' })
  const refusal = (shownAs: string) =>
    loadAgent(join(directory.path, shownAs), { env: {}, shownAs }).catch((error: Error) => error)
  const code = 'ERR_CONFIG_NOT_FOUND'
  expect(await refusal('.')).toMatchObject({ code, message: 'This directory holds no agent.yaml.' })
  expect(await refusal('files')).toMatchObject({ code, message: 'files: holds no agent.yaml.' })
})
