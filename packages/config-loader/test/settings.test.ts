import { expect, test } from 'vitest'
import { complaint, load, MINIMAL, texts } from './agents.js'

test.each([
  ['key: sk-12345', 'key: ********'],
  ['openai_api_key: "sk-\\"12345"', 'openai_api_key: ************'],
  ["api-key: 'sk-''12345' # mine", 'api-key: ************ # mine'],
  ['api_key: [sk-12345]', 'api_key: *********]'],
  ['api_key: $sk-12345', 'api_key: *********'],
  ['authorization: Bearer sk-1,2345', 'authorization: ****************'],
  ['Authorization: "Bearer sk-12345', 'Authorization: ****************'],
  ["headers: { Authorization: 'Bearer sk-12345' }", 'headers: *********************************'],
  ['extra_headers: { X-Mine: sk-12345, X-Yours: sk-12345 }', 'extra_headers: ****'],
  ['default_headers:\n    X-Mine: sk-12345', 'default_headers:'],
  ['api_key:\n    sk-12345', 'api_key:'],
  ['key: |\n    sk-12345', 'key: *'],
])('llm: { %s } is refused without a word of the value', async (line, shown) => {
  for (const next of ['', '  modle: y\n', '  extra_body: {}\n']) {
    const message = await complaint({ 'agent.yaml': `name: a\nllm:\n  model: x\n  ${line}\n${next}` })
    expect(message).toContain(`\n  ${shown}`)
    expect(message).not.toMatch(/sk-|2345/)
  }
  if (line.includes('\n')) return
  const flow = await complaint({ 'agent.yaml': `name: a\nllm: { modle: x, ${line}, temperature: hot }\n` })
  expect(flow).not.toMatch(/sk-|2345/)
})

test.each([
  '  api_key:\n  sk-12345\n  temperature: 1',
  '  api_key: # mine\n\n    sk-12345: x: y',
  '  api_key: |\n  sk-12345',
  '  token: |\r\n    first line\r\n   sk-12345',
])('the line of a mistake below a secret without a value is not quoted: %j', async (lines) => {
  const message = await complaint({ 'agent.yaml': `name: a\nllm:\n  model: x\n${lines}\n` })
  expect(message).toMatch(/^agent\/agent\.yaml:[5-7]:\d+: Not valid YAML: /)
  expect(message).not.toMatch(/sk-|2345/)
})

test('what a variable will hold is shown, for it is no secret', async () => {
  const tool = (line: string) => `${MINIMAL['agent.yaml']}tools: [{ name: get, exec: '${line} | cat' }]\n`
  for (const line of [
    'curl -H "Authorization: Bearer ${token}"',
    'curl -H "X-Api-Key: $KEY"',
    'http ${token}: ${url}',
  ]) {
    expect(await complaint({ 'agent.yaml': tool(line) })).toContain(line)
  }
})

test.each(['https://me:secret@api.example.com/v1', 'https://api.example.com/v1?v=1&api_key=secret'])(
  'credentials inside of base_url %s are an error that points to .env',
  async (url) => {
    const text = `name: a\nllm:\n  model: x\n  base_url: ${url}\n`
    const message = await complaint({ 'agent.yaml': text })
    expect(message).toContain('agent/agent.yaml:4:13: llm.base_url: ')
    expect(message).not.toContain('secret')
    expect(message).toContain('.env')
  },
)

test('parameters of the API pass through, but a mistyped one is named', async () => {
  const { agent, warnings, home } = await load({
    'agent.yaml': 'name: a\nllm: { model: x, base_ulr: http://localhost:1/v1, reasoning_effort: low }\n',
  })
  expect(agent.llm.parameters).toEqual({ base_ulr: 'http://localhost:1/v1', reasoning_effort: 'low' })
  expect(texts(warnings, home)).toEqual([
    'agent/agent.yaml:2: llm: unknown key "base_ulr"; it would be sent to the API as it is. Did you mean "base_url"?',
  ])
})

test.each([
  ['temprature', 'temperature'],
  ['maxTokens', 'max_tokens'],
  ['baseURL', 'base_url'],
  ['timeout', 'timeout_ms'],
  ['reasoning_efort', 'reasoning_effort'],
])('llm.%s is said to mean probably %s, and with strict it is an error', async (key, meant) => {
  const files = { 'agent.yaml': `name: a\nllm:\n  model: x\n  ${key}: 1\n  temperature: 0\n` }
  const message = `llm: unknown key "${key}"; it would be sent to the API as it is.`
  const { warnings } = await load(files)
  expect(warnings).toMatchObject([{ line: 4, column: 3, message, hint: `Did you mean "${meant}"?` }])
  expect(await complaint(files, { strict: true })).toContain(`agent/agent.yaml:4:3: ${message}`)
})

test('a key that is like none of those known is a parameter of the API, also with strict', async () => {
  const text = 'name: a\nllm: { model: x, frobnicate: 1, top_k: 5, verbosity: low, x-note: cheap }\n'
  const { agent, warnings } = await load({ 'agent.yaml': text }, { strict: true })
  expect(agent.llm.parameters).toEqual({ frobnicate: 1, top_k: 5, verbosity: 'low' })
  expect(warnings).toEqual([])
})

test('temperature and max_tokens that are no numbers are refused before any request is', async () => {
  const text = 'name: a\nllm: { model: x, temperature: "0.7", max_tokens: 4k }\n'
  const message = await complaint({ 'agent.yaml': text })
  expect(message).toContain('agent/agent.yaml:2:31: llm.temperature: must be a number, got "0.7".')
  expect(message).toContain('agent/agent.yaml:2:50: llm.max_tokens: must be a number, got "4k".')
})

test('a temperature that most servers refuse is pointed out and sent; none is as good as no key', async () => {
  const written = (value: string) => ({ 'agent.yaml': `name: a\nllm: { model: x, temperature: ${value} }\n` })
  const { agent, warnings, home } = await load(written('2.5'))
  expect(agent.llm.parameters).toEqual({ temperature: 2.5 })
  expect(texts(warnings, home)).toEqual([
    'agent/agent.yaml:2: llm.temperature: most servers take numbers from 0 to 2.',
  ])
  for (const value of ['0', '2', 'null']) expect((await load(written(value))).warnings).toEqual([])
})

test('a mistyped model is told together with the model that is missing because of it', async () => {
  const message = await complaint({ 'agent.yaml': 'name: a\nllm: { modle: gpt-4o }\n' })
  expect(message).toContain('llm.model: The provider openai needs it.')
  expect(message).toContain('Did you mean "model"?')
})

test('what stands in place of the map under llm is said', async () => {
  expect(
    await complaint({ 'agent.yaml': 'name: a\nllm: gpt-4o\n' }),
  ).toBe(`agent/agent.yaml:2:6: llm: Must be a mapping, not "gpt-4o".
  llm: gpt-4o
       ^
Write llm: { model: gpt-4o }.`)
})

test('a policy is read, and a rule nobody knows is an error', async () => {
  const { agent } = await load({ 'agent.yaml': `${MINIMAL['agent.yaml']}policy: { allow_network: false }\n` })
  expect(agent.policy?.rules).toMatchObject({ allowNetwork: false, allowDestructive: false })
  expect(
    await complaint({ 'agent.yaml': `${MINIMAL['agent.yaml']}policy: { allow_netwrok: false }\n` }),
  ).toBe(`agent/agent.yaml:3:11: policy: there is no rule "allow_netwrok"; it would protect nothing.
  policy: { allow_netwrok: false }
            ^
Did you mean "allow_network"?`)
})

test('a policy that is wrong in itself is shown where it is wrong', async () => {
  const text = `${MINIMAL['agent.yaml']}policy:\n  allow_network: maybe\n`
  expect(await complaint({ 'agent.yaml': text })).toContain('agent/agent.yaml:4:18: policy.allow_network: ')
})

test('the turns of a scripted model are read from the file that llm.script names', async () => {
  const { agent } = await load({
    'agent.yaml': 'name: a\nllm: { provider: script, script: turns.yaml }\n',
    'turns.yaml': '- { tool_calls: [{ name: list, arguments: {} }] }\n- { content: Done. }\n',
  })
  expect(agent.script).toEqual([{ tool_calls: [{ name: 'list', arguments: {} }] }, { content: 'Done.' }])
})

test('a script that is missing or wrong is reported at its place', async () => {
  const main = 'name: a\nllm: { provider: script, script: turns.yaml }\n'
  expect(await complaint({ 'agent.yaml': main })).toContain(
    'agent/agent.yaml:2:34: llm.script: "turns.yaml" does not exist.',
  )
  const wrong = await complaint({ 'agent.yaml': main, 'turns.yaml': '- content: fine\n- content: 5\n' })
  expect(wrong).toContain('agent/turns.yaml:2:12: [1].content: ')
})

test('numbers have limits', async () => {
  const text = `${MINIMAL['agent.yaml']}max_iterations: 0\ntool_concurrency: two\n`
  const message = await complaint({ 'agent.yaml': text })
  expect(message).toContain('agent/agent.yaml:3:17: max_iterations: must be at least 1, got 0.')
  expect(message).toContain('agent/agent.yaml:4:19: tool_concurrency: must be a number, got "two".')
  expect(await complaint({ 'agent.yaml': `${MINIMAL['agent.yaml']}max_iterations: 1e300\n` })).toContain(
    'max_iterations: must be at most 9007199254740991, got 1e+300.',
  )
  expect(await complaint({ 'agent.yaml': `${MINIMAL['agent.yaml']}max_iterations: { a: 1 }\n` })).toContain(
    'max_iterations: must be a number, got a mapping.',
  )
})

test('accept_empty is true or false, and false where it is left out', async () => {
  const written = (value: string) => ({ 'agent.yaml': `${MINIMAL['agent.yaml']}accept_empty: ${value}\n` })
  expect((await load({})).agent.acceptEmpty).toBe(false)
  expect((await load(written('true'))).agent.acceptEmpty).toBe(true)
  expect(await complaint(written('maybe'))).toContain(
    'agent/agent.yaml:3:15: accept_empty: must be true or false, got "maybe".',
  )
})

test('a version may be written as a number, and stays as it was written', async () => {
  const { agent } = await load({ 'agent.yaml': `${MINIMAL['agent.yaml']}version: 1.10\n` })
  expect(agent.version).toBe('1.10')
})

test('name and model are all an agent.yaml needs, and the messages say so', async () => {
  const message = await complaint({ 'agent.yaml': 'description: x\n' })
  expect(message).toContain('agent/agent.yaml:1:1: "name" is missing.')
  expect(message).toContain('agent/agent.yaml:1:1: "llm" is missing.')
})

test('consent is to a tool that is there, and an error where it is not', async () => {
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
