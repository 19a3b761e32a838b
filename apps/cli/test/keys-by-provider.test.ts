import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startScriptedServer, temporaryAgent } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, scene } from './delta.js'

// Whose key a command, a sub-agent and a server get.

const SHOW =
  'for name in DELTA_API_KEY OPENAI_API_KEY ANTHROPIC_API_KEY GATEWAY_KEY DELTA_BASE_URL; do printf "%s=%s " $name "$(printenv $name | rev)"; done'

/** What commands with these lists in `pass_env` find, one for each; reversed, because keys are redacted. */
async function keysOf(lists: string[][], llm: object, variables: Record<string, string>) {
  const sources = lists.map((pass_env, index) => ({
    type: 'computed_file',
    output_path: `seen-${index}.txt`,
    generator: { command: ['sh', '-c', `printf "list: "; ${SHOW}`], pass_env },
  }))
  const at = await scene({
    agent: { llm: { model: 'm', ...llm } },
    files: {
      '.env': Object.entries(variables)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
      'context.yaml': JSON.stringify({ sources: [...sources, { type: 'journal' }] }),
    },
  })
  const { stdout } = await at.at('context build', '--agent', at.agent.path)
  const found = stdout.split('list: ').slice(1)
  return found.map((text) =>
    Object.fromEntries(
      [...text.matchAll(/([A-Z][A-Z_]+)=([\w:/.-]+)/g)].map(([, name, value = '']) => [
        name,
        [...value].reverse().join(''),
      ]),
    ),
  )
}

const BOTH = { OPENAI_API_KEY: 'key-of-openai', ANTHROPIC_API_KEY: 'key-of-anthropic' }
const ANTHROPIC = { provider: 'anthropic', max_tokens: 10 }

test('a command that lists a key gets that provider’s own from .env, and under DELTA_API_KEY that of the agent', async () => {
  const lists = [[], ['ANTHROPIC_API_KEY'], ['OPENAI_API_KEY'], ['DELTA_API_KEY']]
  const own = [{}, { ANTHROPIC_API_KEY: 'key-of-anthropic' }, { OPENAI_API_KEY: 'key-of-openai' }]
  expect(await keysOf(lists, ANTHROPIC, BOTH)).toEqual([...own, { DELTA_API_KEY: 'key-of-anthropic' }])
  expect(await keysOf(lists, {}, BOTH)).toEqual([...own, { DELTA_API_KEY: 'key-of-openai' }])
})

test('without a key of OpenAI, a command that lists OPENAI_API_KEY does not get that of Anthropic', async () => {
  const { ANTHROPIC_API_KEY } = BOTH
  expect(await keysOf([['OPENAI_API_KEY']], ANTHROPIC, { ANTHROPIC_API_KEY })).toEqual([{}])
})

test('the key of api_key_env goes under its own name with its address, and not under that of OpenAI', async () => {
  const DELTA_BASE_URL = 'http://127.0.0.1:9/v1'
  const llm = { base_url: DELTA_BASE_URL, api_key_env: 'GATEWAY_KEY' }
  const variables = { ...BOTH, GATEWAY_KEY: 'key-of-gateway' }
  expect(await keysOf([['GATEWAY_KEY'], ['OPENAI_API_KEY']], llm, variables)).toEqual([
    { GATEWAY_KEY: 'key-of-gateway', DELTA_BASE_URL },
    { OPENAI_API_KEY: 'key-of-openai' },
  ])
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
    expect(files).not.toContain(`${name}/script.yaml`)
    expect(await directory.read(`${name}/.gitignore`)).toContain('\n.env\nworkspaces/\n')
    if (key === undefined) expect(files).not.toContain(`${name}/.env.example`)
    else expect(await directory.read(`${name}/.env.example`)).toContain(key)
    const loaded = await delta(['config', '--agent', name, '--strict'], { cwd: directory.path })
    expect(loaded).toMatchObject({ exitCode: 0, stderr: '' })
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

/** A proxy that reaches nobody, and the hosts that it was asked for. */
async function closedProxy() {
  const hosts: string[] = []
  const proxy = createServer().on('connect', ({ url }, socket) => {
    hosts.push(String(url))
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void proxy.close())
  return { hosts, HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
}

/**
 * A run at a server, by a base URL of its own unless `variables` name it, with a sub-agent, which a script starts if `above` lists
 * what that is given: which keys the server got, and which other hosts were asked for.
 */
async function below(
  child: { llm?: object; env?: string },
  variables: Record<string, string> | ((url: string) => Record<string, string>),
  above: { pass_env?: string[] | undefined; llm?: object; env?: string } = {},
) {
  const done = { content: 'Done.' }
  const server = await startScriptedServer({ turns: [calls('help'), done, done], choose: 'requests' })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { hosts, HTTPS_PROXY } = await closedProxy()
  const llm = { model: 'm', max_attempts: 1 }
  const { path } = await temporaryAgent({
    agent: { llm: { ...llm, ...child.llm } },
    files: { '.env': child.env ?? '' },
    onCleanup: onTestFinished,
  })
  const isOwn = typeof variables !== 'function'
  const env = { HTTPS_PROXY, ...(isOwn ? variables : variables(server.baseUrl)) }
  const agent = { llm: { ...llm, ...above.llm, ...(isOwn && { base_url: server.baseUrl }) } }
  const command = `delta run --agent ${path} -m Help -w .`
  const { pass_env } = above
  const tools = [{ name: 'help', ...(pass_env ? { shell: command, pass_env } : { exec: command }) }]
  const at = await scene({ agent, tools, files: { '.env': above.env ?? '' } }, { env })
  expect(await at.run()).toMatchObject({ exitCode: 0 })
  return { hosts, keys: server.requests().map(({ headers }) => headers.authorization) }
}

const OWN = 'OPENAI_API_KEY=key-of-child\n'
const PARENTS = { OPENAI_API_KEY: 'key-of-parent' }
const PARENTS_SENT = 'Bearer key-of-parent'

test.each([
  ['in its .env', { env: OWN }, PARENTS, PARENTS_SENT],
  [
    'by api_key_env',
    { llm: { api_key_env: 'CHILD_KEY' } },
    { ...PARENTS, CHILD_KEY: 'key-of-child' },
    PARENTS_SENT,
  ],
  ['in its .env, where the run above has none', { env: OWN }, {}, undefined],
])(
  "a sub-agent's own key %s goes to its provider, not to the server of the run above",
  async (_, child, variables, parents) => {
    const { hosts, keys } = await below(child, variables)
    expect(hosts).toEqual(['api.openai.com:443'])
    expect(keys).toEqual([parents, parents])
  },
)

test('a sub-agent without a key of its own gets key and address of the run above, or its address alone', async () => {
  expect(await below({}, PARENTS)).toEqual({ hosts: [], keys: Array(3).fill(PARENTS_SENT) })
  expect(await below({}, {})).toEqual({ hosts: [], keys: Array(3).fill(undefined) })
})

test.each(['OPENAI_BASE_URL', 'DELTA_BASE_URL'])(
  "%s of the environment is for a sub-agent's own key, too, as without the run above",
  async (name) => {
    const { hosts, keys } = await below({ env: OWN }, (url) => ({ ...PARENTS, [name]: url }))
    expect({ hosts, keys }).toEqual({ hosts: [], keys: [PARENTS_SENT, 'Bearer key-of-child', PARENTS_SENT] })
  },
)

test.each(['DELTA_API_KEY', 'OPENAI_API_KEY'])(
  'a script that lists %s and runs an agent gives it key and address of the run above, and neither to another key or provider',
  async (name) => {
    const script = { pass_env: [name] }
    expect(await below({}, PARENTS, script)).toEqual({ hosts: [], keys: Array(3).fill(PARENTS_SENT) })
    const parents = [PARENTS_SENT, PARENTS_SENT]
    expect(await below({ env: OWN }, PARENTS, script)).toEqual({
      hosts: ['api.openai.com:443'],
      keys: parents,
    })
    expect(await below({ llm: ANTHROPIC }, PARENTS, script)).toEqual({ hosts: [], keys: parents })
    const both = { ...PARENTS, ANTHROPIC_API_KEY: 'key-of-anthropic' }
    const list = { pass_env: [name, 'ANTHROPIC_API_KEY'] }
    expect((await below({ llm: ANTHROPIC }, both, list)).hosts).toEqual(['api.anthropic.com:443'])
  },
)

test.each([undefined, ['GATEWAY_KEY']])(
  'the key of api_key_env reaches an agent that names it, with its address, also by a script that lists it: %j',
  async (pass_env) => {
    const llm = { api_key_env: 'GATEWAY_KEY' }
    const { hosts, keys } = await below({ llm }, { GATEWAY_KEY: 'key-of-parent' }, { llm, pass_env })
    expect({ hosts, keys }).toEqual({ hosts: [], keys: Array(3).fill(PARENTS_SENT) })
  },
)

test("what a run's .env has of another provider reaches its sub-agents: the key with its address, and no other key goes there", async () => {
  const above = { env: 'ANTHROPIC_API_KEY=key-of-run\nANTHROPIC_BASE_URL=https://gateway.example\n' }
  const person = (url: string) => ({ ...PARENTS, OPENAI_BASE_URL: url })
  expect((await below({ llm: ANTHROPIC }, person, above)).hosts).toEqual(['gateway.example:443'])
  const own = { llm: ANTHROPIC, env: 'ANTHROPIC_API_KEY=key-of-child\n' }
  expect((await below(own, person, above)).hosts).toEqual(['api.anthropic.com:443'])
})

test('delta config shows what --set and --model would use: another provider leaves the server of the file', async () => {
  const llm = {
    model: 'm',
    api: 'responses',
    base_url: 'https://gateway.example/v1',
    api_key_env: 'GATEWAY_KEY',
  }
  const files = { '.env': 'DELTA_API_KEY=g\nDELTA_BASE_URL=https://gateway.example/v1\n' }
  const env = { GATEWAY_KEY: 'g', ANTHROPIC_API_KEY: 'a' }
  const { at, agent } = await scene({ agent: { llm }, files }, { env })
  const other = ['--set', 'llm.provider=anthropic', '--model', 'claude-x', '--set', 'llm.max_tokens=9']
  const shown = await at('config', '--agent', agent.path, '--json', ...other)
  expect(JSON.parse(shown.stdout)).toMatchObject({
    settings: [{ name: 'ANTHROPIC_API_KEY', from: 'environment' }],
    agent: { llm: { provider: 'anthropic', model: 'claude-x', max_tokens: 9 } },
  })
  expect(shown.stdout).not.toContain('gateway.example')
  expect(shown.stderr).toMatch(
    /^--set llm.provider=anthropic: .*agent.yaml is for provider openai, so these are not used: llm.base_url, llm.api, llm.api_key_env.\n$/,
  )
})

test('with another provider the key of the file goes to no command, and what prints it is redacted', async () => {
  const server = await startScriptedServer([calls('peek'), { content: 'Done.' }])
  onTestFinished(() => server[Symbol.asyncDispose]())
  const llm = { model: 'm', base_url: 'http://127.0.0.1:9', api_key_env: 'GATEWAY_KEY' }
  const env = {
    GATEWAY_KEY: 'key-of-gateway',
    ANTHROPIC_API_KEY: 'key-of-a',
    ANTHROPIC_BASE_URL: server.baseUrl,
  }
  const tools = [{ name: 'peek', shell: 'echo "[$GATEWAY_KEY] key-of-gateway"' }]
  const { run } = await scene({ agent: { llm }, tools }, { env })
  const set = ['--set', 'llm.provider=anthropic', '--set', 'llm.max_tokens=9']
  expect(await run(...set)).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(server.requests()[1]?.headers).toMatchObject({ authorization: 'Bearer key-of-a' })
  expect(server.requests()[1]?.body).toContain('[] [REDACTED]')
})

test('what was set of the server of a run is not used when it goes on with another provider', async () => {
  const server = await startScriptedServer([{ content: 'One.' }])
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { hosts, HTTPS_PROXY } = await closedProxy()
  const env = { HTTPS_PROXY, OPENAI_API_KEY: 'key-of-openai', ANTHROPIC_API_KEY: 'key-of-anthropic' }
  const { run, at } = await scene({ agent: { llm: { model: 'm', max_attempts: 1 } } }, { env })
  expect(await run('--set', `llm.base_url=${server.baseUrl}`)).toMatchObject({ exitCode: 0 })
  const again = await at('continue', '-m', 'Go on', '--set', 'llm.max_attempts=1')
  expect(again).toMatchObject({ exitCode: 1 }) // the same server, whose script is at its end
  const other = ['--set', 'llm.provider=anthropic', '--set', 'llm.max_tokens=9']
  expect(await at('continue', '--retry', ...other)).toMatchObject({ exitCode: 1 })
  expect(hosts).toEqual(['api.anthropic.com:443'])
  expect(JSON.stringify(server.requests())).not.toContain('key-of-anthropic')
  expect(server.requests()).toHaveLength(2)
})
