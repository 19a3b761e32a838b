import type { Thought } from '@delta/journal/runs'
import { scriptModel } from '@delta/model'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, expectTypeOf, onTestFinished, test, vi } from 'vitest'
import { type AgentRun, continueRun, defineAgent, type EngineEvent, runAgent } from '../src/index.js'

const TURNS = [{ tool_calls: [{ name: 'wait' }] }, { content: 'Done.' }]

const waiter = (seconds: number) =>
  defineAgent({
    name: 'waiter',
    llm: scriptModel(TURNS),
    system: 'You wait.',
    tools: [{ name: 'wait', exec: `sleep ${seconds}` }],
  })

/** A directory, which outlives a run only if the test awaits that. */
const makeWorkspace = () => temporaryWorkspace({}, { onCleanup: onTestFinished })

async function start(seconds = 0, more: { onEvent?: (event: EngineEvent) => void; runId?: string } = {}) {
  const workspace = await makeWorkspace()
  const agent = waiter(seconds)
  const env = { PATH: process.env.PATH ?? '' }
  return {
    agent,
    run: runAgent({ agent, workDirectory: workspace.path, message: 'Go', env, ...more }),
    workspace,
  }
}

async function typesOf(run: AgentRun): Promise<string[]> {
  const types: string[] = []
  for await (const event of run) if (event.kind === 'journal') types.push(event.event.type)
  return types
}

const ALL = [
  'ENGINE_START',
  'USER_MESSAGE',
  'THOUGHT',
  'ACTION_REQUEST',
  'ACTION_RESULT',
  'THOUGHT',
  'ENGINE_END',
]

test('A run is a promise of its result, and two loops each get all of its events.', async () => {
  const { run } = await start()
  expect(run).toBeInstanceOf(Promise)
  expect(run.runId).toMatch(/^\d{8}_\d{6}_[0-9a-f]{6}$/)
  expect(await Promise.all([typesOf(run), typesOf(run)])).toEqual([ALL, ALL])
  expect(await run).toMatchObject({ status: 'COMPLETED', answer: 'Done.', runId: run.runId })
  expect(await typesOf(run)).toEqual([]) // it has ended
})

test('Events queue up while the loop is busy, in order and beside onEvent.', async () => {
  const heard: string[] = []
  const { run } = await start(0, {
    onEvent: (event) => event.kind === 'journal' && heard.push(event.event.type),
  })
  const types: string[] = []
  for await (const event of run) {
    await run // all of them are unread until the end
    if (event.kind === 'journal') types.push(event.event.type)
  }
  expect(types).toEqual(ALL)
  expect(heard).toEqual(ALL)
})

test('break and a throw end the listening, not the run.', async () => {
  const { run } = await start()
  for await (const _ of run) break
  const thrown = (async () => {
    for await (const _ of run) throw new Error('mine')
  })()
  await expect(thrown).rejects.toThrow('mine')
  expect((await run).status).toBe('COMPLETED')
})

test('stop interrupts the run; it can be continued, and stopping it again changes nothing.', async () => {
  const { run, agent, workspace } = await start(30)
  for await (const event of run) if (event.kind === 'journal' && event.event.type === 'ACTION_REQUEST') break
  expect(await run.stop()).toMatchObject({ status: 'INTERRUPTED', reason: 'stop' })
  expect((await run.stop()).status).toBe('INTERRUPTED')

  const workDirectory = workspace.path
  const resumed = continueRun({ workDirectory, agent, trusted: true, runId: run.runId })
  expect(resumed.runId).toBe(run.runId)
  const kinds = new Set<string>()
  for await (const event of resumed) kinds.add(event.kind)
  expect(kinds).toContain('journal')
  expect(await resumed).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
})

test('An error of the run is thrown by the loop or by await, and is then not unhandled.', async () => {
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  const agent = waiter(0)
  const wrong = () => runAgent({ agent, workDirectory: 'relative', message: 'Go' })
  await expect(typesOf(wrong())).rejects.toThrow('is not an absolute path')
  await expect(wrong()).rejects.toThrow('is not an absolute path')
  const settled = wrong().catch((error: Error) => error.message)
  expect(await settled).toContain('is not an absolute path')
  await new Promise((resolve) => setTimeout(resolve, 20))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})

test('The type of a journal event narrows its fields.', () => {
  const event = {} as EngineEvent
  if (event.kind === 'journal' && event.event.type === 'THOUGHT')
    expectTypeOf(event.event.usage).toEqualTypeOf<Thought['usage']>()
  expectTypeOf(runAgent).returns.toEqualTypeOf<AgentRun>()
})

test('A run is stopped, too, while its model answers nothing and does not heed the stop.', async () => {
  const workspace = await makeWorkspace()
  const llm = { complete: () => new Promise<never>(() => undefined) }
  const agent = defineAgent({ name: 'deaf', llm, system: 'You think.' })
  const run = runAgent({ agent, workDirectory: workspace.path, message: 'Go', runId: 'deaf' })
  for await (const event of run) if (event.kind === 'journal' && event.event.type === 'USER_MESSAGE') break
  expect(await run.stop()).toMatchObject({ status: 'INTERRUPTED' })
})

test('A program that gives no key reads which option it lacks, whatever the environment holds.', async () => {
  const workspace = await makeWorkspace()
  const agent = defineAgent({ name: 'a', llm: { model: 'm' }, system: 'Hi.' })
  const env = { OPENAI_API_KEY: 'sk-1234567890' }
  await expect(runAgent({ agent, workDirectory: workspace.path, message: 'Go', env })).rejects.toThrow(
    'Give the option credentials, such as { apiKey: process.env.OPENAI_API_KEY }',
  )
})
