import { expect, test } from 'vitest'
import { HOOK_NAMES } from '../src/hooks.js'
import type { Agent } from '../src/index.js'
import { complaint, type Files, load, MINIMAL, texts } from './agents.js'

const HOOK = '{ command: [guard] }'
const GUARD = { command: ['guard'], timeoutMs: 30_000, passEnv: [] }
const SHORT_NAMES = {
  pre_llm_req: 'pre_llm_request',
  post_llm_resp: 'post_llm_response',
  pre_tool_exec: 'pre_tool_execution',
  post_tool_exec: 'post_tool_execution',
}

// The rows of the migration tables: what was written for an earlier version, and what becomes of it today.

const MAIN = MINIMAL['agent.yaml']
const OLD_PROMPT = MINIMAL['context.yaml']?.replace('.md', '.txt')
const DEPRECATED = '[DEPRECATION WARNING]'

test.each<[string, Files, Partial<Agent>, string[]]>([
  [
    'config.yaml',
    { 'agent.yaml': undefined, 'config.yaml': MAIN },
    { name: 'tester' },
    [`agent/config.yaml: ${DEPRECATED} config.yaml is now called agent.yaml. Rename the file.`],
  ],
  [
    'config.yaml beside agent.yaml, which is used',
    { 'config.yaml': 'name: old\nllm: { model: old }\n' },
    { name: 'tester' },
    ['agent/config.yaml: Not read: there is an agent.yaml beside it. Remove one of the two.'],
  ],
  ...['lifecycle_hooks', 'hooks'].map((key): [string, Files, Partial<Agent>, string[]] => [
    `${key} in the main file`,
    { 'agent.yaml': `${MAIN}${key}:\n  on_error: ${HOOK}\n` },
    { hooks: { on_error: GUARD } },
    [
      `agent/agent.yaml:3: ${DEPRECATED} "${key}" now belongs in hooks.yaml. Move what stands under it to hooks.yaml.`,
    ],
  ]),
  [
    'lifecycle_hooks beside hooks.yaml, which is used',
    {
      'agent.yaml': `${MAIN}lifecycle_hooks:\n  on_error: { command: [old] }\n`,
      'hooks.yaml': `on_error: ${HOOK}\n`,
    },
    { hooks: { on_error: GUARD } },
    ['agent/agent.yaml:3: "lifecycle_hooks" is not read: there is a hooks.yaml. Remove it here.'],
  ],
  ...Object.entries(SHORT_NAMES).map(([old, today]): [string, Files, Partial<Agent>, string[]] => [
    `the hook name ${old}`,
    { 'hooks.yaml': `${old}: ${HOOK}\n` },
    { hooks: { [today]: GUARD } },
    [
      `agent/hooks.yaml:1: ${DEPRECATED} The hook "${old}" is now called "${today}". Rename it to "${today}".`,
    ],
  ]),
  [
    'llm_config with model_name',
    { 'agent.yaml': 'name: old\nllm_config:\n  model_name: gpt-4o\n  temperature: 0.2\n' },
    { llm: { provider: 'openai', model: 'gpt-4o', parameters: { temperature: 0.2 } } },
    [
      `agent/agent.yaml:2: ${DEPRECATED} "llm_config" is now called "llm", and "model_name" in it "model". Rename them.`,
    ],
  ],
  [
    'system_prompt.txt',
    {
      'system_prompt.md': undefined,
      'system_prompt.txt': 'Old, but good.\n',
      'context.yaml': OLD_PROMPT,
    },
    {
      snapshot: expect.objectContaining({
        files: expect.objectContaining({ 'system_prompt.txt': 'Old, but good.\n' }),
      }),
    },
    [
      `agent/system_prompt.txt: ${DEPRECATED} system_prompt.txt is now called system_prompt.md. Rename the file.`,
    ],
  ],
])('%s loads with one warning', async (_, files, expected, said) => {
  const { agent, warnings, home } = await load(files)
  expect(agent).toMatchObject(expected)
  expect(texts(warnings, home)).toEqual(said)
  expect(warnings.map(({ deprecated }) => deprecated)).toEqual(said.map((text) => text.includes(DEPRECATED)))
})

test('hooks.yaml is read with and without lifecycle_hooks around the hooks', async () => {
  for (const text of [`on_error: ${HOOK}\n`, `lifecycle_hooks:\n  on_error: ${HOOK}\n`]) {
    const { agent, warnings } = await load({ 'hooks.yaml': text })
    expect(agent.hooks.on_error?.command).toEqual(['guard'])
    expect(warnings).toEqual([])
  }
})

test('a missing context.yaml has no compatibility period', async () => {
  expect(await complaint({ 'context.yaml': undefined })).toContain('context.yaml not found in agent\n')
})

test('a mistake under llm_config is shown where it is written', async () => {
  const message = await complaint({ 'agent.yaml': 'name: old\nllm_config:\n  model_name: 5\n' })
  expect(message).toContain('agent/agent.yaml:3:15: ')
})

test('the example of version 1.1 loads as it was written', async () => {
  const { agent, warnings } = await load({
    'agent.yaml': undefined,
    'config.yaml': `name: OrchestratorAgent
description: An orchestrator agent.
llm_config:
  model_name: "gpt-4o"
  temperature: 0.2
lifecycle_hooks:
  pre_llm_req:
    command: ["python3", "\${AGENT_HOME}/tools/context_optimizer.py"]
tools:
  - name: list_files
    description: "List files."
    command: ["ls", "-F"]
    parameters:
      - name: directory
        type: string
        default: "."
        inject_as: argument
  - name: write_file
    command: ["tee"]
    parameters:
      - { name: filename, type: string, inject_as: argument }
      - { name: content, type: string, inject_as: stdin }
  - name: search_web
    command: ["\${AGENT_HOME}/tools/web_search.sh"]
    parameters:
      - { name: query, type: string, inject_as: argument }
  - name: run_sub_agent
    command: ["delta", "run"]
    parameters:
      - { name: agent_path, type: string, inject_as: option, option_name: "--agent" }
      - { name: task, type: string, inject_as: option, option_name: "--task" }
`,
  })
  expect([...agent.tools.keys()]).toEqual(['list_files', 'write_file', 'search_web', 'run_sub_agent'])
  expect(agent.hooks.pre_llm_request?.command).toEqual([
    'python3',
    '${AGENT_HOME}/tools/context_optimizer.py',
  ])
  expect(warnings.every(({ deprecated }) => deprecated)).toBe(true)
})

test('an agent of version 1.9 as the migration guide makes it loads without a warning, also in strict mode', async () => {
  const { agent, warnings } = await load(
    {
      'agent.yaml': `name: my-agent
version: 1.0.0
description: Agent description
llm:
  model: gpt-4o
  temperature: 0.7
  max_tokens: 4096
system_prompt: system_prompt.md
imports:
  - ./tools/file-ops.yaml
tools:
  - name: local_tool
    description: "Local tool example"
    exec: "echo \${message}"
`,
      'tools/file-ops.yaml': `tools:
  - name: read_file
    description: "Read file contents"
    exec: "cat \${filepath}"
  - name: write_file
    description: "Write content to file"
    exec: "tee \${filepath}"
    stdin: content
  - name: list_files
    description: "List files in directory"
    exec: "ls -la \${directory}"
`,
      'hooks.yaml': HOOK_NAMES.map(
        (name) => `${name}:\n  command: ["\${AGENT_HOME}/tools/${name}.sh"]\n`,
      ).join(''),
    },
    { strict: true },
  )
  expect(warnings).toEqual([])
  expect([...agent.tools.keys()]).toEqual(['read_file', 'write_file', 'list_files', 'local_tool'])
  expect(Object.keys(agent.hooks)).toEqual([...HOOK_NAMES])
})
