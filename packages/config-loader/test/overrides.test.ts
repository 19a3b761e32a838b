import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError, loadAgent, loadEnvironment } from '../src/index.js'
import { agentOf, complaint, complaintAbout, directoryOf, load, MINIMAL } from './agents.js'

const AGENT = {
  'agent.yaml': `name: tester
llm: { model: gpt-4o, temperature: 1 }
imports: [./tools.yaml]
tools:
  - { name: bash, shell: '\${script:raw}', timeout_ms: 1000 }
`,
  'tools.yaml': `tools:
  - name: grep
    exec: grep -n \${pattern} \${file}
  - { name: list, exec: ls }
`,
  'context.yaml': `sources:
  - { type: file, id: system_prompt, path: '\${AGENT_HOME}/system_prompt.md' }
  - { type: file, id: memory, path: '\${CWD}/memory.md', on_missing: skip, max_tokens: 500 }
  - { type: journal, id: conversation }
`,
  'hooks.yaml': 'on_error: { command: [notify], timeout_ms: 10 }\n',
}

const set = (...overrides: string[]) => ({ overrides })

test('an override replaces a value of agent.yaml, context.yaml, hooks.yaml or an imported file', async () => {
  const { agent } = await load(
    AGENT,
    set(
      'llm.model=gpt-5',
      'llm.temperature=0.2',
      'max_iterations=3',
      'tools.bash.timeout_ms=5',
      'tools.grep.timeout_ms=6',
      'tools.grep.parameters.pattern.description="What to look for: text"',
      'context.sources.memory.max_tokens=70',
      'hooks.on_error.timeout_ms=80',
      'hooks.on_run_end={ command: [sync] }',
    ),
  )
  expect(agent.llm).toMatchObject({ model: 'gpt-5', parameters: { temperature: 0.2 } })
  expect(agent.maxIterations).toBe(3)
  expect(agent.tools.get('bash')?.settings.timeoutMs).toBe(5)
  const grep = agent.tools.get('grep')
  expect(grep?.settings.timeoutMs).toBe(6)
  expect(grep?.expanded.parameters).toMatchObject([
    { name: 'pattern', description: 'What to look for: text' },
    { name: 'file' },
  ])
  expect(agent.manifest.sources[1]).toMatchObject({ maxTokens: 70 })
  expect(agent.hooks).toMatchObject({
    on_error: { command: ['notify'], timeoutMs: 80 },
    on_run_end: { command: ['sync'] },
  })
})

test('the value is YAML, and an empty one removes the key', async () => {
  const { agent } = await load(
    AGENT,
    set(
      'llm.temperature=',
      'llm.stop=[a, "0.2"]',
      'llm.seed=7',
      'llm.logprobs=true',
      'tools.bash=',
      'context.sources.memory=',
      'hooks=',
    ),
  )
  expect(agent.llm.parameters).toEqual({ stop: ['a', '0.2'], seed: 7, logprobs: true })
  expect([...agent.tools.keys()]).toEqual(['grep', 'list'])
  expect(agent.manifest.sources.map(({ type }) => type)).toEqual(['file', 'journal'])
  expect(agent.hooks).toEqual({})
})

test('of two overrides of one path the later one wins, and is the only one that is kept', async () => {
  const { agent } = await load(AGENT, set('llm.model=a', 'max_iterations=3', 'llm.model=b'))
  expect(agent.llm.model).toBe('b')
  expect(agent.snapshot.overrides).toEqual(['max_iterations=3', 'llm.model=b'])
})

test('the snapshot is the agent as it runs: with the overrides, in every file', async () => {
  const { agent } = await load(
    AGENT,
    set(
      'llm.model=gpt-5',
      'tools.list.timeout_ms=5',
      'context.sources.memory.max_tokens=70',
      'hooks.on_error=',
    ),
  )
  const { config, files } = agent.snapshot
  expect(config).toMatchObject({
    llm: { model: 'gpt-5', temperature: 1 },
    tools: [{}, { timeout_ms: 5 }, {}],
  })
  expect(files['agent.yaml']).toContain('"model":"gpt-5"')
  expect(files['context.yaml']).toContain('"max_tokens":70')
  expect(files['hooks.yaml']).not.toContain('on_error')
  const { agent: plain } = await load(AGENT, set('llm.model=gpt-5'))
  expect(plain.snapshot.files['context.yaml']).toBe(AGENT['context.yaml'])
})

test('hooks and tools are set where an agent has no hooks.yaml, and where old files keep hooks in agent.yaml', async () => {
  const { agent } = await load(
    {},
    set('hooks.on_error={ command: [notify] }', 'tools=[{ name: ls, exec: ls }]'),
  )
  expect(agent.hooks.on_error?.command).toEqual(['notify'])
  expect([...agent.tools.keys()]).toEqual(['ls'])
  expect(agent.snapshot.files['hooks.yaml']).toContain('notify')

  const old = `${MINIMAL['agent.yaml']}lifecycle_hooks: { on_error: { command: [x] } }\n`
  const { agent: older } = await load({ 'agent.yaml': old }, set('hooks.on_error.timeout_ms=7'))
  expect(older.hooks.on_error).toMatchObject({ command: ['x'], timeoutMs: 7 })
  expect(older.snapshot.config.lifecycle_hooks).toEqual({ on_error: { command: ['x'], timeout_ms: 7 } })
})

test('what is set in a copy by alias or merge changes no other copy', async () => {
  const tools = `x-base: &base { exec: ls, timeout_ms: 1, env: { A: a } }
tools:
  - &one { name: one, <<: *base }
  - { <<: *one, name: two }
  - { <<: [*base, *one], name: three, timeout_ms: 3 }
`
  const files = { ...AGENT, 'agent.yaml': `${MINIMAL['agent.yaml']}${tools}` }
  const { agent } = await load(
    files,
    set('tools.two.env.A=b', 'tools.one.timeout_ms=', 'tools.three.env.B=c'),
  )
  const [one, two, three] = [...agent.tools.values()].map(({ settings }) => settings)
  expect([one?.env, two?.env, three?.env]).toEqual([{ A: 'a' }, { A: 'b' }, { A: 'a', B: 'c' }])
  expect([one?.timeoutMs, two?.timeoutMs, three?.timeoutMs]).toEqual([600_000, 1, 3])
  expect(await complaint(files, set('tools.two.env.A=b', 'tools.one.timeout_ms=soon'))).toBe(
    '--set tools.one.timeout_ms=soon: tools[0].timeout_ms: must be whole milliseconds, 0 for no limit, got "soon".',
  )
})

test('tools= sets all tools there are: none is imported', async () => {
  expect([...(await load(AGENT, set('tools='))).agent.tools.keys()]).toEqual([])
})

test('context= names another file, relative to the agent, which must exist', async () => {
  const files = { ...AGENT, 'short.yaml': 'sources:\n  - { type: journal, id: last, max_iterations: 2 }\n' }
  const { agent } = await load(files, set('context=short.yaml', 'context.sources.last.max_iterations=4'))
  expect(agent.manifest.sources).toMatchObject([{ type: 'journal', maxIterations: 4 }])
  expect(await complaint(AGENT, set('context=long.yaml'))).toBe(
    "--set context=long.yaml: agent/long.yaml does not exist.\nThe path is relative to the agent's directory.",
  )
  expect(await complaint(AGENT, set('context=5'))).toBe(
    '--set context=5: context: must be the path of a file, got 5.',
  )
})

test.each([
  ['max_iteration=5', 'unknown key "max_iteration".\nDid you mean "max_iterations"?'],
  ['hook.on_error=', 'unknown key "hook".\nDid you mean "hooks"?'],
  ['max_iterations=many', 'max_iterations: must be a number, got "many".'],
  ['max_iterations=0', 'max_iterations: must be at least 1, got 0.'],
  ['llm.model', 'no value.\nWrite --set llm.model=VALUE.'],
  ['=5', 'no path.\nWrite --set llm.model=NAME.'],
  ['llm..model=5', 'no path.\nWrite --set llm.model=NAME.'],
  [
    'llm.temprature=0',
    'llm: unknown key "temprature"; it would be sent to the API as it is.\nDid you mean "temperature"?',
  ],
  ['llm.model.name=x', 'llm.model is "gpt-4o": there is no "name" in it.'],
  ['tools.bsh.timeout_ms=1', 'no tool "bsh".\nTools: bash, grep, list.'],
  ['tools.bsh=', 'no tool "bsh".\nTools: bash, grep, list.'],
  ['tools.grep.timout_ms=1', 'tools[0]: unknown key "timout_ms".\nDid you mean "timeout_ms"?'],
  ['tools.grep.shell=ls', 'tools[0] "grep": exec:, shell:, and command: are mutually exclusive.'],
  ['tools.grep.parameters.patern.description=x', 'no parameter "patern".\nParameters: pattern, file.'],
  [
    'context.sources.memroy.max_tokens=1',
    'no source "memroy".\nSources: memory, system_prompt, conversation.',
  ],
  ['context.sources.memory.max_token=1', 'sources[1]: unknown key "max_token".\nDid you mean "max_tokens"?'],
  [
    'hooks.on_eror.timeout_ms=1',
    'There is no hook "on_eror"; it would never be called.\nDid you mean "on_error"?',
  ],
  ['hooks.on_run_end.timeout_ms=1', 'on_run_end: "command" is missing.\nAdd "command:" with a list.'],
  ['name=', '"name" is missing.\nAdd "name:" with a string.'],
])('--set %s is refused, and the message names the flag', async (text, said) => {
  const message = await complaint(AGENT, set(text))
  expect(message.startsWith(`--set ${text}: ${said}`), message).toBe(true)
})

test('a value that is not YAML is refused, and every wrong override is reported at once', async () => {
  const message = await complaint(AGENT, set('llm.stop=[a', 'tools.bsh.timeout_ms=1', 'max_iterations=many'))
  expect(message).toContain('--set llm.stop=[a: Not valid YAML')
  expect(message).toContain('--set tools.bsh.timeout_ms=1: no tool "bsh".')
  expect(message).toContain('--set max_iterations=many: ')
  expect(message).toContain('3 problems.')
})

test.each([
  ['llm.api_key=sk-12345', 'Use DELTA_API_KEY.'],
  ['llm={ model: x, api_key: sk-12345 }', 'Use DELTA_API_KEY.'],
  ['tools.bash.env.GITHUB_TOKEN=sk-12345', "Write it into the agent's files."],
])('a secret is refused, for a run records what was set: %s', async (text, way) => {
  const message = await complaint(AGENT, set(text))
  expect(message).toContain(`keys are never recorded.\n${way}`)
  expect(message).not.toContain('12345')
})

test('a problem after a removed list element still has its line', async () => {
  const context = `${AGENT['context.yaml']}  - { type: file, path: x, mode: y }\n`
  const message = await complaint({ ...AGENT, 'context.yaml': context }, set('context.sources.memory='))
  expect(message).toContain('agent/context.yaml:5:')
  expect(message).not.toContain('agent/context.yaml:4:')
})

const BELOW = { DELTA_PARENT_RUN: '/elsewhere/.delta/20261120_093000_a1b2c3' }

test.each([
  [['tools.bash.pass_env=[OPENAI_API_KEY]'], 'tools[0].pass_env: OPENAI_API_KEY is not passed on'],
  [['tools.publish.exec=env'], 'tools[1].pass_env: OPENAI_API_KEY is not passed on'],
  [['tools=[{ name: x, exec: env, pass_env: [OPENAI_API_KEY] }]'], 'tools[0].pass_env: OPENAI_API_KEY'],
  [['hooks.on_error.pass_env=[DELTA_API_KEY]'], 'on_error.pass_env: DELTA_API_KEY is not passed on'],
  [['llm={ provider: command, command: [x] }'], 'llm.provider: "command" is not accepted'],
])('within a run, %j hands no credentials on, also where the agent is trusted', async (overrides, said) => {
  const tools = `tools:
  - { name: bash, shell: '\${script:raw}' }
  - { name: publish, exec: publish, pass_env: [OPENAI_API_KEY] }
`
  const home = await agentOf({ ...AGENT, 'agent.yaml': `${MINIMAL['agent.yaml']}${tools}` })
  const message = await complaintAbout(home, { env: BELOW, overrides })
  expect(message).toContain(`--set ${overrides[0]}: ${said}`)
  expect(message).toContain('here: a tool of another run may have set it.')
  await loadAgent(home, { env: BELOW, overrides: ['llm.temperature=0', 'tools.bash.timeout_ms=5'] })
  await loadAgent(home, { env: {}, overrides })
})

test('within a run, an address that was set gets no key from elsewhere', async () => {
  const agentHome = await agentOf()
  const workDirectory = await directoryOf({})
  await writeFile(join(agentHome, '.env'), 'OPENAI_API_KEY=sk-1\n')
  const llmBaseUrl = 'https://example.com/v1'
  const options = { workDirectory, agentHome, llmBaseUrl, overrides: [`llm.base_url=${llmBaseUrl}`] }
  const failure = await loadEnvironment({ ...options, env: BELOW }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ConfigError)
  expect((failure as ConfigError).message).toBe(
    '--set: llm.base_url would send a key from elsewhere to an address that a tool may have written here.',
  )
  const found = await loadEnvironment({ ...options, env: {} })
  expect(found).toMatchObject({ baseUrl: llmBaseUrl, origins: [{}, { name: 'llm.base_url', from: '--set' }] })
  const own = { ...options, overrides: ['llm.model=x'] }
  expect(await loadEnvironment({ ...own, env: BELOW })).toMatchObject({ baseUrl: llmBaseUrl })
})

test.each([
  ['llm.provider=anthropic', 'openai', 'model: gpt-4o'],
  ['llm.provider=openai', 'anthropic', 'provider: anthropic, model: c, max_tokens: 9'],
])(
  '%s leaves out what the file says of the server of %s, unless it is set too',
  async (provider, owner, llm) => {
    const server = ['base_url: https://b.example/v1', 'api_key_env: B_KEY', 'headers: { x-team: blue }']
    const api = owner === 'openai' ? ['api: responses'] : []
    const files = { ...AGENT, 'agent.yaml': `name: a\nllm: { ${[llm, ...server, ...api].join(', ')} }\n` }
    const max = 'llm.max_tokens=9'
    const { agent, warnings } = await load(files, set(provider, max))
    expect(agent.llm).toMatchObject({ provider: provider.split('=')[1] })
    for (const key of ['baseUrl', 'apiKeyEnv', 'headers', 'api'] as const)
      expect(agent.llm[key]).toBeUndefined()
    expect(agent.llm).toMatchObject({ otherKeyEnv: 'B_KEY', isOtherProvider: true }) // which no command gets
    expect(JSON.stringify(agent.snapshot)).not.toContain('b.example')
    const keys = `llm.base_url, ${api.length > 0 ? 'llm.api, ' : ''}llm.api_key_env, llm.headers`
    expect(warnings).toMatchObject([
      {
        file: `--set ${provider}`,
        message: expect.stringMatching(
          `^.*/agent.yaml is for provider ${owner}, so these are not used: ${keys}.$`,
        ),
      },
    ])
    const own = set(max, 'llm.base_url=http://c.example', 'llm.headers.x-a=b', provider)
    const kept = await load(files, own)
    expect(kept.agent.llm).toMatchObject({ baseUrl: 'http://c.example', headers: { 'x-a': 'b' } })
    expect(kept.agent.llm.apiKeyEnv).toBeUndefined()
  },
)

test('the server of the file stays where the provider that is set is its own, or all of llm is set', async () => {
  const llm = 'llm: { model: m, base_url: "https://b.example/v1", headers: { x-team: blue } }'
  const files = { ...AGENT, 'agent.yaml': `name: a\n${llm}\n` }
  expect(await load(files, set('llm.provider=openai'))).toMatchObject({
    agent: { llm: { baseUrl: 'https://b.example/v1', headers: { 'x-team': 'blue' } } },
    warnings: [],
  })
  expect((await load(files, set('llm.provider=openai'))).agent.llm).not.toHaveProperty('isOtherProvider')
  const all = 'llm={ model: m, base_url: http://c.example, max_tokens: 9 }'
  expect(await load(files, set(all, 'llm.provider=anthropic'))).toMatchObject({
    agent: { llm: { provider: 'anthropic', baseUrl: 'http://c.example' } },
    warnings: [],
  })
})
