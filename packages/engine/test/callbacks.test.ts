import { once } from 'node:events'
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

/** The warnings of this process while `work` runs, once each is delivered. */
async function warningsDuring<T>(work: () => Promise<T>): Promise<{ result: T; warnings: string[] }> {
  const warnings: string[] = []
  const hear = (warning: Error) => warnings.push(warning.message)
  process.on('warning', hear)
  try {
    const result = await work()
    process.emitWarning('the end')
    while (!warnings.includes('the end')) await once(process, 'warning')
    return { result, warnings: warnings.slice(0, -1) }
  } finally {
    process.off('warning', hear)
  }
}

test('a listener that throws at each event is reported once, gets them all, and never ends a run', async () => {
  const { run, workspace } = await scene(WORK)
  const heard: string[] = []
  const onEvent = (event: EngineEvent) => {
    if (event.kind === 'journal') heard.push(event.event.type)
    throw Object.assign(new Error('no room for my own log'), { code: 'ENOSPC', syscall: 'write' })
  }
  const { result, warnings } = await warningsDuring(() => run({ onEvent, stream: true }))
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
  expect(await workspace.read('log')).toBe('worked\n')
  expect(heard).toEqual((await eventsOf(result)).map(({ type }) => type))
  expect(warnings).toEqual([
    expect.stringContaining('The option onEvent threw; the run continues: Error: no room for my own log'),
  ])
})

test('an error of ask is reported, and the question stays open', async () => {
  const { run, resume } = await scene(ASK)
  const ask = () => Promise.reject(new Error('no line to ask on'))
  const { result, warnings } = await warningsDuring(() => run({ ask }))
  expect(result).toMatchObject({ status: 'WAITING_FOR_INPUT' })
  expect(warnings).toEqual([expect.stringContaining('The option ask threw')])
  expect(await resume({ ask: async () => 'Well.' })).toMatchObject({ status: 'COMPLETED' })
})
