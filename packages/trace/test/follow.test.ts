import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTrace, type Step } from '../src/index.js'
import { calling, numbered, paid, request, result, runOf, type Said, start, thought, user } from './runs.js'

/** A run that others write while it is followed. */
async function followed(events: readonly Said[]) {
  const directory = await runOf(events, { 'lease/x': '' }) // of this layout: an engine may take it up
  let seq = events.length
  const write = (...more: readonly Said[]) => {
    const from = seq + 1
    seq += more.length
    const lines = more.map((event, index) => `${JSON.stringify(numbered(event, from + index))}\n`)
    return appendFile(join(directory, 'journal.jsonl'), lines.join(''))
  }
  const stop = new AbortController()
  const steps = (await openTrace(directory)).follow(stop.signal)
  const next = async (): Promise<Step> => {
    const { value } = await steps.next()
    if (value === undefined) throw new Error('The steps ended.')
    return value
  }
  return { write, next, steps, stop }
}

const shown = ({ n, said, thought: answer, calls }: Step) => [
  n,
  said.length,
  answer?.content,
  calls.map(({ status }) => status),
]
const end = { type: 'ENGINE_END', run_id: 'run', status: 'COMPLETED', reason_code: 'answered' }

test('the steps of a run come as they are, then each one again whenever it has grown, until the run ends', async () => {
  const { write, next, steps } = await followed([start(), user('Go'), calling(1, 'a', paid)])
  expect(shown(await next())).toEqual([1, 1, 'thought 1', [undefined]])
  await write(request(1, 'a'), result(1, 'a'))
  expect(shown(await next())).toEqual([1, 1, 'thought 1', ['SUCCESS']])
  await write(user('More'), calling(2, 'b', paid))
  expect(shown(await next())).toEqual([2, 1, 'thought 2', [undefined]])
  await write(request(2, 'b'), result(2, 'b'), thought(3, paid))
  expect(shown(await next())).toEqual([2, 1, 'thought 2', ['SUCCESS']])
  expect(shown(await next())).toEqual([3, 0, 'thought 3', []])
  await write(end)
  expect(await steps.next()).toMatchObject({ done: true })
})

test('a step that grew after the next one had begun comes again, with all that was said before it', async () => {
  const { write, next } = await followed([
    start(),
    user('Go'),
    calling(1, 'a', paid),
    request(1, 'a'),
    result(1, 'a'),
  ])
  await next()
  await write(user('One'), thought(2, paid))
  expect(shown(await next())).toEqual([2, 1, 'thought 2', []])
  await write({ type: 'SNAPSHOT', iteration: 1, snapshot_id: 's1' })
  const [again, after] = [await next(), await next()]
  expect(again.snapshot).toMatchObject({ snapshot_id: 's1' })
  expect([shown(again), shown(after)]).toEqual([
    [1, 1, 'thought 1', ['SUCCESS']],
    [2, 1, 'thought 2', []],
  ])
})

test('a run of many steps is followed to its end, and each step is whole', async () => {
  const { write, next, steps } = await followed([start(), user('Go'), thought(1, paid)])
  await next()
  for (let n = 2; n <= 8; n++) {
    await write(
      user(`to ${n}`),
      { type: 'SYSTEM_MESSAGE', level: 'INFO', content: 'And.' },
      calling(n, `a${n}`, paid),
      request(n, `a${n}`),
      result(n, `a${n}`),
    )
    expect(shown(await next())).toEqual([n, 2, `thought ${n}`, ['SUCCESS']])
  }
  await write(end)
  expect(await steps.next()).toMatchObject({ done: true })
})

test('what is said to a run that waits for it is shown before it is answered', async () => {
  const { write, next } = await followed([start(), user('Go'), thought(1, paid)])
  await next()
  await write(user('And then?'))
  expect(shown(await next())).toEqual([2, 1, undefined, []])
})

test('following stops when it is told to', async () => {
  const { next, steps, stop } = await followed([start(), user('Go'), thought(1, paid)])
  await next()
  const waiting = steps.next()
  stop.abort()
  expect(await waiting).toMatchObject({ done: true })
})
