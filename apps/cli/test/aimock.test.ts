import { type Fixture, type FixtureOpts, type FixtureResponse, LLMock } from '@copilotkit/aimock'
import { describe, expect, onTestFinished, test } from 'vitest'
import { scene } from './delta.js'

// A server that other people wrote reads the requests and makes the answers.

const APIS = {
  chat: { provider: 'openai', model: 'm' },
  responses: { provider: 'openai', api: 'responses', model: 'm' },
  messages: { provider: 'anthropic', model: 'm', max_tokens: 1000 },
}

/** An answer for requests in which the server finds this many results of tools. */
function after(results: number, response: FixtureResponse, options: FixtureOpts = {}): Fixture {
  const predicate: Fixture['match']['predicate'] = ({ messages }) =>
    messages.filter(({ role }) => role === 'tool').length === results
  return { match: { predicate }, response, ...options }
}

async function agentOn(api: keyof typeof APIS, stream: boolean, answers: Fixture[]) {
  const server = new LLMock({ port: 0, chunkSize: 8, strict: true }).addFixtures(answers)
  const url = await server.start()
  onTestFinished(() => server.stop())
  const llm = { ...APIS[api], stream, base_url: `${url}/v1` }
  const tools = [{ name: 'say', exec: 'echo ${text}' }]
  const env = { DELTA_API_KEY: 'test-key-not-real' }
  return { ...(await scene({ agent: { tools, llm } }, { env })), server }
}

const say = (text: string) => ({ name: 'say', arguments: JSON.stringify({ text }) })

const ROUNDS = [
  after(0, { content: 'Two at once.', reasoning: 'Both can be said.', toolCalls: [say('one'), say('two')] }),
  after(2, { reasoning: 'A third is “missing”.', toolCalls: [say('three é')] }),
  after(3, { content: 'All three were said.', reasoning: 'Done.' }),
]

/** What comes back of the first answer's reasoning. */
const REASONING = {
  chat: '"reasoning_content":"Both can be said."',
  responses: '"summary":[{"type":"summary_text","text":"Both can be said."}]',
  messages: '"thinking":"Both can be said.","signature":"aimock-placeholder-signature"',
}

const SLOW = { error: { message: 'Slow down.', type: 'rate_limit_error' }, status: 429, retryAfter: 1 }
const TEXT = { content: 'A long enough answer to be broken in its middle.' }

/** What the server does instead of an answer, and what the journal calls it. */
const FAILURES: (Omit<Fixture, 'match'> & { code: string })[] = [
  { response: SLOW, code: 'ERR_MODEL_RATE_LIMIT' },
  { response: TEXT, truncateAfterChunks: 3, latency: 5, code: 'ERR_MODEL_CONNECTION' },
  { response: TEXT, chaos: { disconnectRate: 1 }, code: 'ERR_MODEL_CONNECTION' },
  { response: TEXT, chaos: { malformedRate: 1 }, code: 'ERR_MODEL_RESPONSE' },
  { response: TEXT, chaos: { dropRate: 1 }, code: 'ERR_MODEL_SERVER' },
]

describe.each(['chat', 'responses', 'messages'] as const)('with aimock as the server of %s', (api) => {
  test.each([true, false])('reasoning and parallel calls go round a loop, streamed: %s', async (stream) => {
    const { run, at, events, server } = await agentOn(api, stream, ROUNDS)
    const { stdout, stderr } = await run()
    expect(stdout, stderr).toBe('All three were said.\n')

    const requests = server.getRequests()
    expect(requests.map(({ response }) => response.status)).toEqual([200, 200, 200])
    const { messages = [] } = (requests.at(-1)?.body ?? {}) as { messages?: Record<string, unknown>[] }
    const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls as { id: string }[])
    const results = messages.filter(({ role }) => role === 'tool')
    expect(results.map(({ tool_call_id: id, content }) => [id, String(content).trim()])).toEqual(
      ['one', 'two', 'three é'].map((text, index) => [calls[index]?.id, text]),
    )
    const last = await at('show', '--request', '3')
    expect(last.stdout).toContain(REASONING[api])
    expect((await at('show', '-v')).stdout).toContain('∴ A third is “missing”.')
    expect((await events('THOUGHT')).every(({ tokens }) => tokens !== undefined)).toBe(true)
  })

  test('each kind of failure is followed by a second attempt of the same request', async () => {
    const rounds = FAILURES.map((_, round) => after(round, { toolCalls: [say(`round ${round}`)] }))
    const answers = [...rounds, after(FAILURES.length, { content: 'All were survived.' })]
    const { run, events, server } = await agentOn(api, true, answers)
    for (const [round, { code: _, ...failure }] of FAILURES.entries()) {
      const isFirst = () => server.getRequests().length === 2 * round
      server.prependFixture({ match: { predicate: isFirst }, ...failure })
    }
    const { stdout, stderr, exitCode } = await run()
    expect([stdout, exitCode], stderr).toEqual(['All were survived.\n', 0])
    const asked = server.getRequests().map(({ timestamp }) => timestamp)
    expect(asked).toHaveLength(2 * FAILURES.length + 1)
    const errors = await events('ERROR')
    expect(errors).toMatchObject(FAILURES.map(({ code }) => ({ recoverable: true, error_details: { code } })))
    expect(await events('THOUGHT')).toHaveLength(FAILURES.length + 1)
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(900)
  })
})
