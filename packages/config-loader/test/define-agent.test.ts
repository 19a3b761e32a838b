import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type AgentDefinition, ConfigError, defineAgent, loadAgent } from '../src/index.js'

const AGENT: AgentDefinition = { name: 'a', llm: { model: 'gpt-4o' }, system: 'You greet ${CWD} \\${x}.' }

function complaint(more: object): string {
  try {
    defineAgent({ ...AGENT, ...more })
  } catch (error) {
    if (error instanceof ConfigError) return error.message
  }
  throw new Error('it was accepted')
}

test('What is kept of a defined agent loads as the same agent.', async () => {
  const agent = defineAgent({
    ...AGENT,
    llm: { model: 'gpt-4o', temperature: 0.5, timeout_ms: 1000 },
    tools: [{ name: 'greet', exec: 'echo Hello ${name}', timeout_ms: 500 }],
    hooks: { on_error: { command: ['notify'] } },
    policy: { allow_network: false },
    max_iterations: 7,
    accept_empty: true,
  })
  const kept = await temporaryWorkspace(agent.snapshot.files, { onCleanup: onTestFinished })
  const { agent: loaded, warnings } = await loadAgent(kept.path, { env: {}, strict: true })
  expect(warnings).toEqual([])
  const { home: _, manifest, snapshot, ...rest } = loaded
  expect(agent).toMatchObject(rest)
  expect(agent.home).toBeUndefined()
  expect(snapshot.files).toEqual(agent.snapshot.files)
  expect(manifest.sources.map(({ id }) => id)).toEqual(agent.manifest.sources.map(({ id }) => id))
})

test('The directory that home names is written out in what is kept.', async () => {
  const home = await temporaryWorkspace({ 'notes.md': 'Notes.' }, { onCleanup: onTestFinished })
  const context = {
    sources: [
      { type: 'file', path: '${AGENT_HOME}/system_prompt.md' },
      { type: 'file', path: '${AGENT_HOME}/notes.md' },
      { type: 'journal' },
    ],
  } as const
  const tools = [{ name: 'run', exec: '${AGENT_HOME}/run.sh' }]
  const agent = defineAgent({ ...AGENT, home: home.path, tools, context: { sources: [...context.sources] } })
  expect(agent.tools.get('run')?.expanded.command).toEqual(['${AGENT_HOME}/run.sh'])
  const { 'agent.yaml': main, 'context.yaml': recipe } = agent.snapshot.files
  expect(main).toContain(`"command":["${agent.home}/run.sh"]`)
  expect(recipe).toContain(`"path":"${agent.home}/notes.md"`)
  expect(recipe).toContain('"path":"${AGENT_HOME}/system_prompt.md"')
})

test('All mistakes are one error, each with its path.', () => {
  const message = complaint({
    system: '',
    llm: {},
    tools: [
      { name: 'f', execute: () => 1 },
      { name: 'b', exec: '${AGENT_HOME}/x' },
      { name: 'c', exec: 'ls' },
      { name: 'c', exec: 'ls', timeout_ms: 'soon' },
    ],
    context: { sources: [{ type: 'file', path: 'a.md' }, { type: 'nope' }] },
    hooks: { on_eror: { command: ['x'] } },
    policy: { foo: 1 },
    max_iterations: 0,
  })
  for (const said of [
    "system: must be the agent's instructions",
    'llm.model: missing',
    'tools[0].execute: a function cannot be kept in a file',
    'exec: node tool.mjs with stdin: json',
    'tools[1].exec: ${AGENT_HOME} needs the directory of the agent',
    'tools[3].timeout_ms: must be whole milliseconds',
    'tools[3]: the tool "c" is already defined as tools[2].',
    'context.sources[0].path: "a.md" must begin with ${AGENT_HOME}/, ${CWD}/ or /.',
    'context.sources[1].type: must be one of',
    'There is no hook "on_eror"',
    'policy: there is no rule "foo"',
    'max_iterations: must be at least 1, got 0.',
    '12 problems.',
  ])
    expect(message).toContain(said)
})

test.each([
  [{ llm: { provider: 'script', script: 'turns.yaml' } }, 'llm.script: "turns.yaml" does not exist'],
  [
    { hooks: { on_error: { command: ['${AGENT_HOME}/x'] } } },
    'hooks.on_error.command[0]: ${AGENT_HOME} needs',
  ],
  [{ home: '/nowhere' }, "/nowhere: the agent's directory does not exist."],
  [{ home: 5 }, "5: the agent's directory does not exist."],
  [{ context: () => 1 }, 'context: a function cannot be kept in a file'],
  [
    {
      llm: new (class {
        doGenerate() {}
      })(),
    },
    'Write llm: fromAiSdk(model), of @delta/model/ai-sdk.',
  ],
  [{ tools: [() => 1] }, 'tools[0]: a function cannot be kept in a file'],
])('What no file can say, or what needs a directory, is refused (%#).', (more, message) => {
  expect(complaint(more)).toContain(message)
})

test('A mistyped option and an unsent prompt are warnings of Node.js.', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined)
  const context = { sources: [{ type: 'journal' as const }] }
  const hooks = { on_error: { command: ['x'], timeout: 5 } }
  defineAgent({ ...AGENT, context, hooks } as AgentDefinition)
  const said = warn.mock.calls.map(([text]) => text).join('\n')
  expect(said).toContain('hooks.on_error: unknown key "timeout".\nDid you mean "timeout_ms"?')
  expect(said).toContain('No source reads system_prompt.md')
  warn.mockRestore()
})

test('The types know our keys, and leave parameters of the API free.', () => {
  const check = (_: () => void) => undefined
  check(() => defineAgent({ ...AGENT, llm: { model: 'm', anything: { goes: true } } }))
  // @ts-expect-error a list of commands is wanted
  check(() => defineAgent({ ...AGENT, tools: [() => 1] }))
  // @ts-expect-error milliseconds are a number
  check(() => defineAgent({ ...AGENT, llm: { model: 'm', timeout_ms: 'soon' } }))
  // @ts-expect-error on_error is meant
  check(() => defineAgent({ ...AGENT, hooks: { on_eror: { command: ['x'] } } }))
})
