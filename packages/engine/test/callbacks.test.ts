import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoredEvent } from '@delta/journal'
import { expect, test } from 'vitest'
import type { EngineEvent } from '../src/index.js'
import { eventsOf, scene } from './run.js'

const WORK = {
  turns: [{ content: 'I work.', tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Done.' }],
  tools: [{ name: 'work', shell: 'echo worked >> log' }],
}
const ASK = {
  turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Well?' } }] }, { content: 'Done.' }],
}

/** What a listener throws at the first event that is one of these; `disk` passes for an error of the run's own files. */
function throwingAt(isIt: (event: EngineEvent) => boolean) {
  const thrown = Object.assign(new Error('no room for my own log'), { code: 'ENOSPC', syscall: 'write' })
  const onEvent = (event: EngineEvent) => {
    if (isIt(event)) throw thrown
  }
  return { thrown, onEvent }
}

async function typesIn(workspace: { path: string; files(): Promise<string[]> }): Promise<string[]> {
  const name = (await workspace.files()).find((file) => file.endsWith('/journal.jsonl')) ?? ''
  const lines = (await readFile(join(workspace.path, name), 'utf8')).trimEnd().split('\n')
  return lines.map((line) => (JSON.parse(line) as StoredEvent).type)
}

test.each([
  ['ENGINE_START', ['ENGINE_START', 'USER_MESSAGE'], 1],
  ['USER_MESSAGE', ['ENGINE_START', 'USER_MESSAGE'], 1],
  ['THOUGHT', ['ENGINE_START', 'USER_MESSAGE', 'THOUGHT'], 1],
  ['ACTION_REQUEST', ['ENGINE_START', 'USER_MESSAGE', 'THOUGHT', 'ACTION_REQUEST'], 0],
  ['ACTION_RESULT', ['ENGINE_START', 'USER_MESSAGE', 'THOUGHT', 'ACTION_REQUEST', 'ACTION_RESULT'], 1],
])(
  'what a listener throws at %s is thrown on, and the run is continued without a message',
  async (type, types, runs) => {
    const { run, resume, workspace } = await scene(WORK)
    const { thrown, onEvent } = throwingAt((event) => event.kind === 'journal' && event.event.type === type)
    expect(await run({ onEvent }).catch((error: unknown) => error)).toBe(thrown)
    expect(thrown.message).toBe('no room for my own log')
    expect(await typesIn(workspace)).toEqual(types)

    const result = await resume()
    expect(result).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
    const results = (await eventsOf(result)).filter((event) => event.type === 'ACTION_RESULT')
    expect(results).toHaveLength(1)
    expect(workspace.has('log') ? await workspace.read('log') : '').toBe('worked\n'.repeat(runs))
  },
)

test('what a listener throws at ENGINE_END is thrown on, and the run has ended', async () => {
  const { run, workspace } = await scene(WORK)
  const { thrown, onEvent } = throwingAt(
    ({ kind, ...rest }) => kind === 'journal' && Object(rest).event.type === 'ENGINE_END',
  )
  expect(await run({ onEvent }).catch((error: unknown) => error)).toBe(thrown)
  expect((await typesIn(workspace)).at(-1)).toBe('ENGINE_END')
})

test('what a listener throws while the model speaks is thrown on, and the answer is asked for again', async () => {
  const { run, resume, workspace } = await scene(WORK)
  const { thrown, onEvent } = throwingAt(({ kind }) => kind === 'delta')
  expect(await run({ onEvent, stream: true }).catch((error: unknown) => error)).toBe(thrown)
  expect(await typesIn(workspace)).toEqual(['ENGINE_START', 'USER_MESSAGE'])
  expect((await resume()).status).toBe('COMPLETED')
})

test('a listener that throws once is not called again, and calls beside that one are recorded', async () => {
  const { run, resume, workspace } = await scene({
    turns: [
      {
        tool_calls: [
          { name: 'work', arguments: {} },
          { name: 'work', arguments: {} },
        ],
      },
      { content: 'Done.' },
    ],
    tools: WORK.tools,
    agent: { tool_concurrency: 2 },
  })
  let heard = 0
  const onEvent = (event: EngineEvent) => {
    if (event.kind !== 'journal' || event.event.type !== 'ACTION_REQUEST') return
    heard += 1
    throw new Error('once')
  }
  await expect(run({ onEvent })).rejects.toThrow('once')
  expect(heard).toBe(1)
  expect((await resume()).status).toBe('COMPLETED')
  expect((await typesIn(workspace)).filter((type) => type === 'ACTION_RESULT')).toHaveLength(2)
})

test('what ask throws is thrown on, and the question is still open', async () => {
  const { run, resume } = await scene(ASK)
  const thrown = new Error('no line to ask on')
  const ask = () => Promise.reject(thrown)
  expect(await run({ ask }).catch((error: unknown) => error)).toBe(thrown)
  expect(await resume({ ask: async () => 'Well.' })).toMatchObject({ status: 'COMPLETED' })
})

test('an ask that resolves to no text is a mistake in its use, and the question is still open', async () => {
  const { run, resume } = await scene(ASK)
  const ask = (async () => 5) as unknown as () => Promise<string>
  await expect(run({ ask })).rejects.toMatchObject({
    code: 'ERR_ENGINE_USAGE',
    message:
      'The option ask resolved to a number: it must resolve to the answer as text, or to undefined when there is none.',
  })
  expect(await resume({ ask: async () => 'Well.' })).toMatchObject({ status: 'COMPLETED' })
})
