import { execFileSync } from 'node:child_process'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoredEvent } from '@delta/journal/runs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BuildOptions } from '../src/index.js'
import { followEvents } from '../src/internal.js'
import { history, journalText, placeWith } from './place.js'

function longRun(iterations: number) {
  const run = history()
  run.user('The task.')
  for (let index = 1; index <= iterations; index++) {
    if (index === 3) run.user('A second wish.')
    run.iteration(`thought ${index}`, `result ${index}`)
    if (index === 2) run.system('noise of iteration 2')
  }
  return run
}

test('without max_iterations everything is sent', async () => {
  const { build } = await placeWith({ 'work/.delta/r1/journal.jsonl': journalText(longRun(5).events) })
  const { messages, blocks } = await build({ sources: [{ type: 'journal' }] })
  expect(messages).toHaveLength(2 + 1 + 5 * 2)
  expect(blocks).toMatchObject([{ source_id: 'journal', type: 'journal', messages: 13 }])
})

test('max_iterations drops whole old iterations, never what users said', async () => {
  const run = longRun(6)
  const { build } = await placeWith({ 'work/.delta/r1/journal.jsonl': journalText(run.events) })
  const sources = [{ type: 'journal', max_iterations: 2 }]
  const expected = ['The task.', 'A second wish.', 'thought 5', 'result 5', 'thought 6', 'result 6']

  const fromFile = await build({ sources })
  expect(fromFile.messages.map(({ content }) => content)).toEqual(expected)
  const fromEvents = await build({ sources }, { journalPath: run.events })
  expect(fromEvents.messages).toEqual(fromFile.messages)
})

const MARK = '[${count} earlier iterations left out]'

test('dropped: true marks where max_iterations left iterations out, and how many', async () => {
  const run = longRun(6)
  const { build, write } = await placeWith()
  const path = await write('work/.delta/r1/journal.jsonl', journalText(run.events))
  const said = async (journalPath: BuildOptions['journalPath'], journal: object) => {
    const { messages } = await build({ sources: [{ type: 'journal', ...journal }] }, { journalPath })
    return messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  }
  for (const journal of [path, run.events, followEvents(async () => run.events)]) {
    expect(await said(journal, { max_iterations: 2, dropped: true })).toEqual([
      'The task.',
      'A second wish.',
      '[4 earlier iterations left out]',
    ])
    expect(await said(journal, { max_iterations: 4, dropped: '<${count} gone>' })).toEqual([
      'The task.',
      '<2 gone>', // the second wish came after them
      'A second wish.',
    ])
    for (const whole of [{ max_iterations: 6, dropped: true }, { dropped: true }, { max_iterations: 2 }])
      expect(await said(journal, whole)).toEqual(['The task.', 'A second wish.'])
    expect(await said(journal, { max_iterations: 2, dropped: false })).toHaveLength(2)
  }
})

test('an answer after which the run was retried takes the place of no iteration', async () => {
  const run = longRun(6)
  run.thought('')
  run.add({ type: 'ENGINE_START', run_id: 'r1', resumed: true, retry: true })
  const path = 'work/.delta/r1/journal.jsonl'
  const { build } = await placeWith({ [path]: journalText(run.events) })
  const { messages } = await build({ sources: [{ type: 'journal', max_iterations: 2 }] })
  expect(messages.slice(2).map(({ content }) => content)).toEqual([
    'thought 5',
    'result 5',
    'thought 6',
    'result 6',
  ])
})

test('more iterations allowed than there are changes nothing', async () => {
  const { build } = await placeWith({ 'work/.delta/r1/journal.jsonl': journalText(longRun(3).events) })
  const all = await build({ sources: [{ type: 'journal' }] })
  const some = await build({ sources: [{ type: 'journal', max_iterations: 3 }] })
  expect(some.messages.filter(({ role }) => role !== 'system')).toEqual(
    all.messages.filter(({ role }) => role !== 'system'),
  )
})

test('a run that has not begun has no conversation', async () => {
  const { build } = await placeWith()
  const journals = ['/no/such/journal.jsonl', followEvents(async () => []), undefined]
  for (const journalPath of journals) {
    for (const max_iterations of [undefined, 3]) {
      const sources = [{ type: 'journal', ...(max_iterations && { max_iterations }) }]
      expect((await build({ sources }, journalPath === undefined ? {} : { journalPath })).messages).toEqual(
        [],
      )
    }
  }
})

test('a follower gives what a fresh reading gives, at every length of the journal', async () => {
  const { build, options, write } = await placeWith()
  const run = longRun(4)
  run.thought('', [
    { id: 'p', action_id: 'p' },
    { id: 'q', action_id: 'q' },
  ])
  run.result('q', 'early')
  run.user('Between.')
  run.result('p', 'late')
  const path = await write('work/.delta/r1/journal.jsonl', '')
  const list: StoredEvent[] = []
  const follower = followEvents(async () => list)
  for (const event of run.events) {
    list.push(event)
    await appendFile(path, `${JSON.stringify(event)}\n`)
    const fresh = await build({ sources: [{ type: 'journal' }] }, options)
    const followed = await build({ sources: [{ type: 'journal' }] }, { journalPath: follower })
    expect(followed).toEqual(fresh)
  }
})

test('of the last iterations a follower gives what a fresh reading gives, in a short journal and in a long one', async () => {
  const { build, options, write } = await placeWith()
  const run = longRun(6)
  for (let index = 0; index < 8; index++) run.iteration(`thought ${index}`, `${index}`.repeat(200_000))
  run.user('A third wish.')
  run.iteration('the last thought', 'the last result')
  const path = await write('work/.delta/r1/journal.jsonl', '')
  const list: StoredEvent[] = []
  const follower = followEvents(async () => list)
  const sources = [{ type: 'journal', max_iterations: 2 }]
  for (const event of run.events) {
    list.push(event)
    await appendFile(path, `${JSON.stringify(event)}\n`)
    const fresh = await build({ sources }, options)
    expect(await build({ sources }, { journalPath: follower })).toEqual(fresh)
  }
})

test('whatever was said when, a follower keeps the same last iterations as a fresh reading', async () => {
  const { build, write } = await placeWith()
  const steps = fc.array(
    fc.constantFrom('user', 'system', 'warning before', 'warning', 'iteration', 'iteration'),
    {
      minLength: 1,
      maxLength: 15,
    },
  )
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), async (said, max_iterations) => {
      const run = history()
      run.user('The task.')
      let iteration = 0
      for (const [index, what] of said.entries()) {
        const warning = { type: 'SYSTEM_MESSAGE', level: 'WARN', content: `${what} ${index}` }
        if (what === 'user') run.user(`wish ${index}`)
        else if (what === 'system') run.system(`note ${index}`)
        else if (what === 'warning') run.add({ ...warning, iteration: Math.max(1, iteration) })
        else {
          iteration += 1
          if (what === 'warning before') run.add({ ...warning, iteration })
          run.iteration(`thought ${index}`, `result ${index}`)
        }
      }
      await write('work/.delta/r1/journal.jsonl', journalText(run.events))
      const sources = [{ type: 'journal', max_iterations, dropped: MARK }]
      const fresh = await build({ sources })
      expect(await build({ sources }, { journalPath: followEvents(async () => run.events) })).toEqual(fresh)
      expect(await build({ sources }, { journalPath: run.events })).toEqual(fresh)
    }),
  )
})

test('a follower that is given another list looks at it from its beginning', async () => {
  let { events } = longRun(2)
  const follower = followEvents(async () => events)
  await follower.groups()
  const edited = longRun(1)
  edited.iteration('edited thought', 'edited result')
  events = edited.events
  const contents = (await follower.groups()).flatMap(({ messages }) =>
    messages.map(({ message }) => message.content),
  )
  expect(contents).toContain('edited result')
  expect(contents).not.toContain('result 2')
})

test('a pipe in the place of a journal is one clear refusal, and nobody waits for it', async () => {
  const { directory, build } = await placeWith()
  const path = join(directory, 'journal.jsonl')
  execFileSync('mkfifo', [path])
  const built = build({ sources: [{ type: 'journal' }] }, { journalPath: path })
  await expect(built).rejects.toThrow('it is a pipe, not a file (ESPIPE).')
})
