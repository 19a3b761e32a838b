import { startScriptedServer } from '@delta/testkit'
import { expect, test } from 'vitest'
import { retryOf } from '../src/internal.js'
import { calls, control, eventsOf, eventsOfType, hooks, scene } from './run.js'

const SAY = { name: 'say', exec: 'echo hi' }
const CALL = calls('say')

test.each([
  [{ status: 401 }],
  [{ content: ' ' }],
  [{ content: 'Half of', finish_reason: 'length' }],
  [{ message: { refusal: 'I must not.' } }],
])('a retry after %j sends the same request again, without a new message', async (turn) => {
  await using server = await startScriptedServer({
    choose: 'requests',
    turns: [CALL, turn, { content: 'Done.' }, { content: 'And more.' }],
  })
  const { run, resume } = await scene({
    baseUrl: server.baseUrl,
    tools: [SAY],
    agent: { llm: { model: 'any', max_attempts: 1 } },
  })
  expect((await run()).status).toBe('FAILED')
  const result = await resume({ retry: true })
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
  const bodies = () => server.requests().map(({ body }) => body)
  expect(bodies()[2]).toBe(bodies()[1])

  const events = await eventsOf(result)
  expect(events.filter(({ type }) => type === 'USER_MESSAGE')).toHaveLength(1)
  expect(events.filter(({ type }) => type === 'ENGINE_START')).toMatchObject([
    { resumed: false },
    { resumed: true, retry: true },
  ])
  if ('content' in turn) expect(events.map((event) => Object(event).content)).toContain(turn.content)
  await resume({ message: 'More' })
  expect(server.requests()[3]?.json?.messages.slice(-2)).toEqual([
    { role: 'assistant', content: 'Done.' },
    { role: 'user', content: 'More' },
  ])
})

test.each([
  [{ statusCode: 503 }, 'COMPLETED'],
  [{ statusCode: 503, isRetryable: false }, 'FAILED'],
  [{ status: 401 }, 'FAILED'],
])(
  'an error of a model of the caller’s own counts by its status and by what it says of a retry: %j',
  async (hints, status) => {
    let requests = 0
    const { run } = await scene({})
    const complete = async () => {
      if (++requests === 1) throw Object.assign(new Error('Busy.'), hints)
      return { message: { role: 'assistant' as const, content: 'Done.' }, raw: {} }
    }
    const result = await run({ model: { complete } })
    expect(result.status).toBe(status)
    expect((await eventsOf(result)).find(({ type }) => type === 'ERROR')).toMatchObject({
      error_message: 'Busy.',
    })
  },
)

test('a killed retry continues as a retry: the unused answer stays unused', async () => {
  await using server = await startScriptedServer({
    choose: 'requests',
    turns: [{ content: '' }, { content: 'late', hold: 'ever' }, { content: 'Done.' }],
  })
  const { run, resume, start, runAndKill } = await scene({ baseUrl: server.baseUrl })
  await run()
  await start(1, { RETRY: '1' }).result // killed after its first event
  await runAndKill(() => server.waitForRequests(2))
  expect(await resume()).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
  const [first, ...others] = server.requests().map(({ body }) => body)
  expect(
    others.every((body) => JSON.parse(body).messages.length === JSON.parse(first ?? '').messages.length),
  ).toBe(true)
})

test('a retry after a limit needs a higher one, and sends the next request', async () => {
  const { run, resume } = await scene({ turns: [CALL, CALL, { content: 'Done.' }], tools: [SAY] })
  const failed = await run({ maxIterations: 1 })
  await expect(resume({ retry: true, maxIterations: 1 })).rejects.toMatchObject({
    code: 'ERR_ENGINE_NO_RETRY',
    message: `Run ${failed.runId} cannot be retried: it has used 1 of 1 iterations. Raise max_iterations, for example to 2, or continue with a message.`,
  })
  expect(await resume({ retry: true, maxIterations: 2 })).toMatchObject({ reasonCode: 'limit_iterations' })
  const result = await resume({ retry: true })
  expect(result).toMatchObject({ status: 'COMPLETED', iterations: 3 })
  expect(await eventsOfType(result, 'USER_MESSAGE')).toHaveLength(1)
})

test('a run that a hook or a critical tool ended is not retried, and the refusal says why', async () => {
  const stop = control({ action: 'stop', reason: 'enough' })
  const stopped = await scene({ turns: [CALL], files: hooks({ pre_llm_request: stop }) })
  const { runId } = await stopped.run()
  await expect(stopped.resume({ retry: true })).rejects.toMatchObject({
    code: 'ERR_ENGINE_NO_RETRY',
    message: `Run ${runId} cannot be retried: it ended with hook_stopped (pre_llm_request hook: enough). Continue it with a message.`,
  })
  const critical = await scene({ turns: [CALL], tools: [{ ...SAY, exec: 'false', critical: true }] })
  await critical.run()
  await expect(critical.resume({ retry: true })).rejects.toThrow(
    'it ended with critical_tool (critical tool "say"',
  )
})

test('only a failed run is retried, and not together with a message', async () => {
  const { run, resume } = await scene({ turns: [{ content: 'Done.' }] })
  const { runId } = await run()
  await expect(resume({ retry: true })).rejects.toThrow(
    `Run ${runId} cannot be retried: it is COMPLETED, not FAILED. Continue it without a retry.`,
  )
  await expect(resume({ retry: true, message: 'More' })).rejects.toMatchObject({ code: 'ERR_ENGINE_USAGE' })
})

test('a run without a reason code, or with one of a newer version, is not retried', () => {
  expect(retryOf(undefined)).toBeUndefined()
  expect(retryOf('limit_of_tomorrow', 30)).toBeUndefined()
  expect(retryOf('limit_iterations', 30)).toEqual({
    maxIterations: 60,
    onceFixed: false,
  })
})
