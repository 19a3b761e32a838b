import { startScriptedServer } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, scene } from './delta.js'

// Whose key a command, a sub-agent and a server get.

const SHOW =
  'for name in DELTA_API_KEY OPENAI_API_KEY ANTHROPIC_API_KEY GATEWAY_KEY DELTA_BASE_URL; do printf "%s=%s " $name "$(printenv $name | rev)"; done'

/** What a command finds with this `pass_env`; reversed, because keys are redacted. */
async function keysOf(pass_env: string[], llm: object, variables: Record<string, string>) {
  const at = await scene({
    agent: { llm: { model: 'm', ...llm } },
    tools: [{ name: 'show', shell: SHOW, pass_env }],
    files: {
      '.env': Object.entries(variables)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
      'context.yaml': JSON.stringify({
        sources: [
          {
            type: 'computed_file',
            output_path: 'seen.txt',
            generator: { command: ['sh', '-c', SHOW], pass_env },
          },
          { type: 'journal' },
        ],
      }),
    },
  })
  const built = await at.at('context build', '--agent', at.agent.path)
  const seen = Object.fromEntries(
    [...built.stdout.matchAll(/([A-Z][A-Z_]+)=(\S+)/g)].map(([, name, value = '']) => [
      name,
      [...value].reverse().join(''),
    ]),
  )
  return { seen, stderr: built.stderr }
}

const BOTH = { OPENAI_API_KEY: 'key-of-openai', ANTHROPIC_API_KEY: 'key-of-anthropic' }
const ANTHROPIC = { provider: 'anthropic', max_tokens: 10 }

test.each([
  ['nothing', [], ANTHROPIC, {}],
  ['ANTHROPIC_API_KEY', ['ANTHROPIC_API_KEY'], ANTHROPIC, { ANTHROPIC_API_KEY: 'key-of-anthropic' }],
  ['OPENAI_API_KEY', ['OPENAI_API_KEY'], ANTHROPIC, { OPENAI_API_KEY: 'key-of-openai' }],
  ['DELTA_API_KEY', ['DELTA_API_KEY'], ANTHROPIC, { DELTA_API_KEY: 'key-of-anthropic' }],
  ['ANTHROPIC_API_KEY', ['ANTHROPIC_API_KEY'], {}, { ANTHROPIC_API_KEY: 'key-of-anthropic' }],
  ['DELTA_API_KEY', ['DELTA_API_KEY'], {}, { DELTA_API_KEY: 'key-of-openai' }],
])(
  'a command that lists %s gets that provider’s own key from .env: %j %j',
  async (_, names, llm, expected) => {
    expect((await keysOf(names, llm, BOTH)).seen).toEqual(expected)
  },
)

test('without a key of OpenAI, a command that lists OPENAI_API_KEY does not get that of Anthropic', async () => {
  const { ANTHROPIC_API_KEY } = BOTH
  expect((await keysOf(['OPENAI_API_KEY'], ANTHROPIC, { ANTHROPIC_API_KEY })).seen).toEqual({})
})

test('the key of api_key_env goes under its own name with its address, and not under that of OpenAI', async () => {
  const llm = { base_url: 'http://127.0.0.1:9/v1', api_key_env: 'GATEWAY_KEY' }
  const variables = { ...BOTH, GATEWAY_KEY: 'key-of-gateway' }
  const address = { DELTA_BASE_URL: 'http://127.0.0.1:9/v1' }
  const { seen } = await keysOf(['GATEWAY_KEY'], llm, variables)
  expect(seen).toEqual({ GATEWAY_KEY: 'key-of-gateway', ...address })
  expect((await keysOf(['OPENAI_API_KEY'], llm, variables)).seen).toEqual({ OPENAI_API_KEY: 'key-of-openai' })
})

test('a server gets the headers and the key of api_key_env; tools do not get that key, and what prints it is redacted', async () => {
  const server = await startScriptedServer([calls('peek', {}), { content: 'Done.' }])
  onTestFinished(() => server[Symbol.asyncDispose]())
  const at = await scene({
    agent: {
      llm: {
        model: 'm',
        base_url: server.baseUrl,
        api_key_env: 'GATEWAY_KEY',
        headers: { 'x-team': 'blue' },
      },
    },
    tools: [{ name: 'peek', shell: 'echo "[$GATEWAY_KEY]"; cat "$AGENT_HOME/.env"' }],
    files: { '.env': 'GATEWAY_KEY=key-of-gateway\nGROQ_API_KEY=key-of-groq\n' },
  })
  expect(await at.run()).toMatchObject({ exitCode: 0 })
  const [first, second] = server.requests()
  expect(first?.headers).toMatchObject({ authorization: 'Bearer key-of-gateway', 'x-team': 'blue' })
  expect(second?.body).toContain('[]\\nGATEWAY_KEY=[REDACTED]\\nGROQ_API_KEY=[REDACTED]')
  const [start] = await at.events('ENGINE_START')
  expect(JSON.stringify(start)).toContain('GATEWAY_KEY')
  expect(JSON.stringify(start)).not.toContain('key-of-gateway')
})

test('a run without the key that its agent names says which variable is missing', async () => {
  const { run } = await scene({ agent: { llm: { model: 'm', api_key_env: 'GATEWAY_KEY' } } })
  const { exitCode, stderr } = await run()
  expect(exitCode).toBe(2)
  expect(stderr).toContain('put GATEWAY_KEY=… into the environment')
})

test('delta config names the variable of the key, and never shows the key', async () => {
  const { at, agent } = await scene({
    agent: { llm: { model: 'm', ...ANTHROPIC } },
    files: { '.env': 'ANTHROPIC_API_KEY=key-of-a\n' },
  })
  const shown = await at('config', '--agent', agent.path)
  expect(shown.stdout).toContain('name: ANTHROPIC_API_KEY')
  expect(shown.stdout).not.toContain('key-of-a')
})

test.each([
  ['openai', 'llm:\n  model: gpt-4o\n', 'OPENAI_API_KEY=\n'],
  ['openai-responses', 'llm:\n  api: responses\n  model: gpt-5.6\n', 'OPENAI_API_KEY=\n'],
  [
    'anthropic',
    'llm:\n  provider: anthropic\n  model: claude-sonnet-5\n  max_tokens: 16000 #',
    'ANTHROPIC_API_KEY=\n',
  ],
  ['local', 'llm:\n  base_url: http://127.0.0.1:11434/v1 #', undefined],
])('init --provider %s writes an agent of that model, and where its key goes', async (provider, llm, key) => {
  const { workspace: directory } = await scene({})
  for (const template of ['minimal', 'hello-world', 'research']) {
    const name = `made-${template}`
    const made = await delta(['init', name, '-t', template, '--provider', provider], { cwd: directory.path })
    expect(made).toMatchObject({ exitCode: 0 })
    const text = await directory.read(`${name}/agent.yaml`)
    expect(text).toContain(llm)
    expect(text).not.toMatch(/provider: script|model is a script/)
    const files = await directory.files()
    if (key === undefined) expect(files).not.toContain(`${name}/.env.example`)
    else expect(await directory.read(`${name}/.env.example`)).toContain(key)
    expect(await delta(['config', '--agent', name, '--strict'], { cwd: directory.path })).toMatchObject({
      exitCode: 0,
      stderr: '',
    })
  }
})

test.each([
  [{}, 'DELTA_API_KEY=… (or OPENAI_API_KEY=…)', 'a chat-completions API'],
  [{ api: 'responses' }, 'DELTA_API_KEY=… (or OPENAI_API_KEY=…)', 'a Responses API'],
  [ANTHROPIC, 'DELTA_API_KEY=… (or ANTHROPIC_API_KEY=…)', 'a Messages API'],
])(
  'without a key a run names the variables for it, and the API of a server that needs none: %j',
  async (llm, variables, api) => {
    const { run } = await scene({ agent: { llm: { provider: 'openai', model: 'm', ...llm } } })
    const { stderr } = await run()
    expect(stderr).toContain(`put ${variables} into the environment`)
    expect(stderr).toContain(`any server with ${api} works`)
  },
)
