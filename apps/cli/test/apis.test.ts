import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readRequest } from '@delta/journal/runs'
import type { AnswerTurn } from '@delta/testkit'
import { startScriptedServer } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { calls, scene } from './delta.js'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const TOOLS = [
  { name: 'say', exec: 'echo ${text}' },
  { name: 'shot', shell: `echo ${PNG} | base64 -d`, output: 'image' },
]

/** The settings that make one scripted server each API. */
const APIS = {
  chat: { provider: 'openai', model: 'm' },
  responses: { provider: 'openai', api: 'responses', model: 'm' },
  messages: { provider: 'anthropic', model: 'm', max_tokens: 1000 },
}
type Api = keyof typeof APIS

async function serve(turns: readonly AnswerTurn[]) {
  const server = await startScriptedServer(turns)
  onTestFinished(() => server.close())
  return server
}

async function agentWith(llm: object, baseUrl: string) {
  const agent = { tools: TOOLS, max_iterations: 30, llm: { ...llm, base_url: baseUrl } }
  return scene({ agent }, { env: { DELTA_API_KEY: 'test-key-not-real' } })
}

const ROUNDS = 10

/** Ten rounds of reasoning, text and two calls, and an answer. */
const LOOP: AnswerTurn[] = [
  ...Array.from({ length: ROUNDS }, (_, round) => ({
    content: round % 3 === 0 ? null : `Round ${round}: “ünï” \u2028 \\ "quoted".`,
    message: { reasoning_content: `Thought ${round}, with\nlines and 🦉.` },
    tool_calls: [
      { name: 'say', arguments: { text: `first ${round}` } },
      { name: 'say', arguments: `{ "text" : "second ${round} \\u00e9" }` },
    ],
  })),
  { content: 'All said.' },
]

/** What the body of a request holds of the answers before it, as the API gave them. */
function answersIn(api: Api, body: Record<string, unknown>): unknown[] {
  const list = (body[api === 'responses' ? 'input' : 'messages'] ?? []) as Record<string, unknown>[]
  if (api === 'responses')
    return list.filter(
      ({ type, role }) => (type !== 'function_call_output' && role === undefined) || role === 'assistant',
    )
  const assistant = list.filter(({ role }) => role === 'assistant')
  return api === 'messages' ? assistant.flatMap(({ content }) => content) : assistant
}

describe.each(['chat', 'responses', 'messages'] as const)('a run on %s', (api) => {
  test.each([true, false])(
    'with stream: %s sends back in ten rounds all that was answered, in the bytes on disk',
    async (stream) => {
      const server = await serve(LOOP)
      const { run, at, events, workspace } = await agentWith({ ...APIS[api], stream }, server.baseUrl)
      const { stdout, stderr, exitCode } = await run()
      expect([stdout, exitCode], stderr).toEqual(['All said.\n', 0])

      const sent = server.requests()
      expect(sent.length).toBe(ROUNDS + 1)
      const directory = await runDirectory(workspace)
      for (const [index, { body }] of sent.entries())
        expect((await readRequest(directory, index + 1)).replace(/\n$/, '')).toBe(body)
      const last = await at('show', '--request', String(sent.length))
      expect(last.stdout.replace(/\n$/, '')).toBe(sent.at(-1)?.body)
      const thoughts = await events('THOUGHT')
      const messages = thoughts.slice(0, ROUNDS).map(({ message }) => message as Record<string, unknown>)
      const answered = messages.flatMap((message) => {
        const { items } = message as { items?: { list: unknown[] } }
        return items ? items.list : [message]
      })
      expect(answersIn(api, JSON.parse(sent.at(-1)?.body ?? '{}'))).toEqual(answered)
      expect(JSON.stringify(answered)).toContain('Thought 9, with')

      expect(thoughts.every(({ tokens }) => Object(tokens).input > 0)).toBe(true)
      const transcript = await at('show', '-v')
      expect(transcript.stdout).toContain('∴ Thought 3, with')
      const replay = await scene({
        agent: {
          tools: TOOLS,
          max_iterations: 30,
          llm: { ...parametersOf(APIS[api]), provider: 'replay', script: directory },
        },
      })
      expect(await replay.run()).toMatchObject({ stdout: 'All said.\n', exitCode: 0 })
    },
  )

  test("shows the model a tool's picture, which is on disk once; show says where it stood", async () => {
    const server = await serve([calls('shot'), calls('shot'), { content: 'A dot.' }])
    const { run, at, workspace } = await agentWith(APIS[api], server.baseUrl)
    const { stdout, stderr } = await run()
    expect(stdout, stderr).toBe('A dot.\n')

    const [, second, third] = server.requests()
    expect(second?.body.split(PNG).length).toBe(2)
    expect(third?.body.split(PNG).length).toBe(3)
    const directory = await runDirectory(workspace)
    expect(await readdir(join(directory, 'io/blobs'))).toHaveLength(1)
    const parts = await readFile(join(directory, 'io/parts.jsonl'), 'utf8')
    expect(parts).toContain('"$blob"')
    expect(parts).not.toContain(PNG)
    const shown = await at('show', '--request', '3')
    expect(shown.stdout.replace(/\n$/, '')).toBe(third?.body)
    if (api === 'chat') expect((await at('show')).stdout).toContain('[image image/png 1x1, 70 bytes]')
  })

  test('explains which source of context.yaml broke the cache of the provider, and none where nothing changed', async () => {
    const server = await serve([calls('say', { text: 'hi' }), { content: 'Done.' }])
    const llm = { ...APIS[api], base_url: server.baseUrl }
    const rules = '{ type: file, id: rules, path: "${CWD}/rules.md", prompt_cache: true }'
    const { run, at, workspace } = await scene(
      {
        agent: { tools: TOOLS, llm },
        files: { 'context.yaml': `sources: [${rules}, { type: journal, prompt_cache: true }]\n` },
      },
      { env: { DELTA_API_KEY: 'test-key-not-real' } },
    )
    await workspace.write('rules.md', 'Be kind.')
    await run('-q')
    const breaks = async () => JSON.parse((await at('context explain', '--json')).stdout).cache_breaks
    expect(await breaks()).toEqual([])
    await workspace.write('rules.md', 'Be brief.')
    expect(await breaks()).toMatchObject([{ iteration: 3, source: 'rules' }])
  })

  test('refuses a call with a number of which digits would be lost, and the model learns how to send it', async () => {
    const server = await serve([
      { tool_calls: [{ name: 'say', arguments: '{"text":1234567890123456789}' }] },
      { content: 'I see.' },
    ])
    const { run, events } = await agentWith(APIS[api], server.baseUrl)
    expect((await run()).stdout).toBe('I see.\n')
    expect((await events('ACTION_RESULT'))[0]).toMatchObject({
      status: 'ERROR',
      observation_content: expect.stringContaining('cannot be passed on exactly; send it as a string'),
    })
  })
})

/** What is sent to the API. */
function parametersOf({ provider: _, api: _api, ...parameters }: { provider: string; api?: string }) {
  return parameters
}

async function runDirectory({ path }: { path: string }): Promise<string> {
  const runs = join(path, '.delta')
  return join(runs, (await readFile(join(runs, 'LATEST'), 'utf8')).trim())
}

test('a run begun on one API goes on on the others, and its records say what was left out', async () => {
  const turn = (reasoning: string, content: string): AnswerTurn => ({
    content,
    message: { reasoning_content: reasoning },
    ...(content === '' && calls('say', { text: 'hi' })),
  })
  const server = await serve([
    turn('Chat thinks.', ''),
    turn('Chat thinks again.', 'One.'),
    turn('Responses thinks.', ''),
    turn('Responses thinks again.', 'Two.'),
    turn('Messages thinks.', ''),
    { content: 'Three.' },
    { content: 'Four.' },
  ])
  const { run, at, agent, events, workspace } = await agentWith(APIS.chat, server.baseUrl)
  const goOn = async (api: Api, message: string) => {
    const llm = { ...APIS[api], base_url: server.baseUrl }
    await agent.write('agent.yaml', JSON.stringify({ name: 'test-agent', tools: TOOLS, llm }))
    const { stdout, stderr } = await at('continue', '-m', message)
    expect(stderr).not.toContain('FAILED')
    return stdout
  }
  expect((await run()).stdout).toBe('One.\n')
  expect(await goOn('responses', 'And?')).toBe('Two.\n')
  expect(await goOn('messages', 'And?')).toBe('Three.\n')
  expect(await goOn('chat', 'And?')).toBe('Four.\n')

  const bodies = server.requests().map(({ body }) => body)
  expect(bodies[1]).toContain('Chat thinks.')
  expect(bodies[2]).not.toContain('Chat thinks')
  expect(bodies[5]).toContain('Messages thinks.')
  expect(bodies[5]).not.toContain('Responses thinks')
  expect(bodies[6]).toContain('Chat thinks again.')
  expect(bodies[6]).not.toContain('Messages thinks')
  for (const body of bodies.slice(1)) expect(body).toContain('hi')

  const refs = (await events('THOUGHT')).map(({ llm_invocation_ref: ref }) => String(ref))
  const directory = await runDirectory(workspace)
  const records = await Promise.all(
    refs.map(async (ref) => JSON.parse(await readFile(join(directory, ref), 'utf8'))),
  )
  expect(records.map(({ wire }) => wire.api)).toEqual([
    'chat',
    'chat',
    'responses',
    'responses',
    'messages',
    'messages',
    'chat',
  ])
  const leftOut = records.map(({ left_out = [] }) =>
    left_out.map(({ api, iteration }: { api: string; iteration: number }) => `${iteration} ${api}`),
  )
  expect(leftOut).toEqual([
    [],
    [],
    ['1 chat', '2 chat'],
    ['1 chat', '2 chat'],
    ['1 chat', '2 chat', '3 responses', '4 responses'],
    ['1 chat', '2 chat', '3 responses', '4 responses'],
    ['3 responses', '4 responses', '5 messages', '6 messages'],
  ])
  const { stdout } = await at('show', '--step', '5')
  expect(stdout).toContain(
    'left out: reasoning of 4 answers that only its own API can read (chat, responses)',
  )
})
