import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { ChatModel } from '@delta/model'
import { ModelError } from '@delta/model'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { calls, eventsOfType, scene } from './run.js'

const USAGE = { prompt_tokens: 100, completion_tokens: 20 }
const PRICED = { prices: [{ match: '*', input: 2, output: 10 }] }
const WORK = { tools: [{ name: 'work', exec: 'true' }] }

/** A model that calls a tool, and then answers. */
function workingModel(complete: (call: number) => Promise<{ waitedMs?: number }>): ChatModel {
  let count = 0
  return {
    complete: async () => {
      count += 1
      const more = await complete(count)
      const call = { id: 'a', type: 'function' as const, function: { name: 'work', arguments: '{}' } }
      const message = count === 1 ? { content: '', tool_calls: [call] } : { content: 'Done.' }
      return { message: { role: 'assistant', ...message }, raw: {}, model: 'own', usage: USAGE, ...more }
    },
  }
}

const limitedTo = (wall_time: string) => ({ ...WORK, agent: { limits: { wall_time } } })

test('the time that a model says a request waited is not time of the run', async () => {
  const { run } = await scene(limitedTo('1s'))
  const model = workingModel(async () => {
    await wait(800)
    return { waitedMs: 790 }
  })
  expect(await run({ model })).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
})

test('a slow request is time of the run, and its answer is kept', async () => {
  const { run } = await scene(limitedTo('0.5s'))
  const result = await run({ model: workingModel(() => wait(600, {})) })
  expect(result).toMatchObject({ status: 'FAILED', reasonCode: 'limit_wall_time', iterations: 1 })
  expect(result.retryWith).toBe('limits.wall_time=1s')
  expect(await eventsOfType(result, 'ACTION_REQUEST')).toHaveLength(0)
})

test('the wait before another attempt is not time of the run', async () => {
  const { run } = await scene({
    ...limitedTo('1s'),
    agent: { limits: { wall_time: '1s' }, llm: { model: 'own' } },
  })
  let isBusy = true
  const model = workingModel(async () => {
    if (!isBusy) return {}
    isBusy = false
    throw new ModelError('ERR_MODEL_RATE_LIMIT', 'Busy.', { retryAfterMs: 1200 })
  })
  expect(await run({ model })).toMatchObject({ status: 'COMPLETED' })
})

test('the time in which a person thinks is not time of the run', async () => {
  const { run } = await scene({
    ...limitedTo('1s'),
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Well?' } }] },
      { content: '{{last_observation}}' },
    ],
  })
  expect(await run({ ask: () => wait(1200, 'Yes.') })).toMatchObject({ answer: 'Yes.' })
})

test('the wait of a command for a snapshot is not time of the run', async () => {
  const slow = '[ -e "$0.was" ] || { : > "$0.was"; sleep 1; }; PATH=${PATH#*:} exec git "$@"'
  const tools = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await writeFile(join(tools.path, 'git'), `#!/bin/sh\n${slow}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${tools.path}:${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { run } = await scene({
    ...WORK,
    agent: { limits: { wall_time: '0.8s' }, snapshots: { every: 'iteration' } },
    turns: [calls('work'), { content: 'Done.' }],
  })
  const result = await run()
  expect(result).toMatchObject({ status: 'COMPLETED' })
  expect(result.totals.waited_ms).toBeGreaterThan(500)
})

test('a deadline is that of a limit above; a signal before it is a signal', async () => {
  const { run } = await scene({ tools: [{ name: 'sleep', exec: 'sleep 300' }], turns: [calls('sleep')] })
  const until = (ms: number) => ({
    env: {
      PATH: process.env.PATH,
      DELTA_PARENT_RUN: '/nowhere/run',
      DELTA_DEADLINE: String(Date.now() + ms),
    },
  })
  const reached = await run(until(700))
  expect(reached).toMatchObject({ status: 'FAILED', reasonCode: 'limit_wall_time' })
  expect(reached.retryWith).toBeUndefined()
  const stop = new AbortController()
  const stopping = run({
    ...until(60_000),
    signal: stop.signal,
    onEvent: (event) =>
      event.kind === 'journal' && event.event.type === 'ACTION_REQUEST' && stop.abort('SIGTERM'),
  })
  expect(await stopping).toMatchObject({ status: 'INTERRUPTED', reasonCode: 'signal', reason: 'SIGTERM' })
})

test('an answer that cannot be used is not asked for again once the limit is reached', async () => {
  const { run } = await scene({ agent: { ...PRICED, limits: { cost: 0.0001 } } })
  let requests = 0
  const model: ChatModel = {
    complete: () => {
      requests += 1
      return Promise.reject(
        new ModelError('ERR_MODEL_RESPONSE', 'Unreadable.', { retryable: true, usage: USAGE, model: 'own' }),
      )
    },
  }
  const result = await run({ model })
  expect(result).toMatchObject({ status: 'FAILED', reasonCode: 'limit_cost' })
  expect(result.reason).toBe('$0.0004 of $0.0001 is spent.')
  expect(requests).toBe(1)
})

test('a limit of dollars needs a price of a model that has a name; of another one, when it answers', async () => {
  const { run } = await scene({ ...WORK, agent: { limits: { cost: 1 } } })
  const model = workingModel(async () => ({}))
  await expect(run({ model })).rejects.toMatchObject({ code: 'ERR_ENGINE_NO_PRICE' })
  const prices = { first: [{ match: 'own', input: 2, output: 10 }] }
  expect(await run({ model, prices })).toMatchObject({ status: 'COMPLETED' })
  const other = { first: [{ match: 'other', input: 2, output: 10 }] }
  expect(await run({ model: workingModel(async () => ({})), prices: other })).toMatchObject({
    reason: 'An answer was given by a model without a price, so what is spent is not known.',
  })
})
