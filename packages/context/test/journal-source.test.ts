import { execFileSync } from 'node:child_process'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BuildOptions, followJournal } from '../src/index.js'
import { history, journalText, placeWith } from './place.js'

function longRun(iterations: number) {
  const run = history()
  run.user('The task.')
  for (let index = 1; index <= iterations; index++) {
    if (index === 3) run.user('A second wish.')
    run.cycle(`thought ${index}`, `result ${index}`)
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
  for (const journal of [path, run.events, followJournal(path)]) {
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
  const journals = ['/no/such/journal.jsonl', followJournal('/no/such/journal.jsonl'), undefined]
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
  const follower = followJournal(path)
  for (const event of run.events) {
    await appendFile(path, `${JSON.stringify(event)}\n`)
    const fresh = await build({ sources: [{ type: 'journal' }] }, options)
    const followed = await build({ sources: [{ type: 'journal' }] }, { journalPath: follower })
    expect(followed).toEqual(fresh)
  }
})

test('of the last iterations a follower gives what a fresh reading gives, in a short journal and in a long one', async () => {
  const { build, options, write } = await placeWith()
  const run = longRun(6)
  for (let index = 0; index < 8; index++) run.cycle(`thought ${index}`, `${index}`.repeat(200_000))
  run.user('A third wish.')
  run.cycle('the last thought', 'the last result')
  const path = await write('work/.delta/r1/journal.jsonl', '')
  const follower = followJournal(path)
  const sources = [{ type: 'journal', max_iterations: 2 }]
  for (const event of run.events) {
    await appendFile(path, `${JSON.stringify(event)}\n`)
    const fresh = await build({ sources }, options)
    expect(await build({ sources }, { journalPath: follower })).toEqual(fresh)
  }
})

test('whatever was said when, a follower keeps the same last iterations as a fresh reading', async () => {
  const { build, write } = await placeWith()
  const steps = fc.array(fc.constantFrom('user', 'system', 'warning before', 'warning', 'cycle', 'cycle'), {
    minLength: 1,
    maxLength: 15,
  })
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
          run.cycle(`thought ${index}`, `result ${index}`)
        }
      }
      const path = await write('work/.delta/r1/journal.jsonl', journalText(run.events))
      const sources = [{ type: 'journal', max_iterations, dropped: MARK }]
      const fresh = await build({ sources })
      expect(await build({ sources }, { journalPath: followJournal(path) })).toEqual(fresh)
      expect(await build({ sources }, { journalPath: run.events })).toEqual(fresh)
    }),
  )
})

test('a follower goes on where a journal has grown long', async () => {
  const { write } = await placeWith()
  const run = longRun(8)
  for (let index = 0; index < 8; index++) run.cycle(`thought ${index}`, `${index}`.repeat(30_000))
  const path = await write('work/.delta/r1/journal.jsonl', '')
  const follower = followJournal(path)
  for (const event of run.events) {
    await appendFile(path, `${JSON.stringify(event)}\n`)
    expect(await follower.turns()).toEqual(await followJournal(path).turns())
  }
})

test('a follower notices a journal that was edited, also where it had read already', async () => {
  const { write } = await placeWith()
  const run = longRun(2)
  const path = await write('work/.delta/r1/journal.jsonl', journalText(run.events))
  const follower = followJournal(path)
  await follower.turns()
  await writeFile(path, journalText(run.events).replace('result 1', 'edited 1')) // of the same length
  const contents = (await follower.turns()).flatMap(({ messages }) =>
    messages.map(({ message }) => message.content),
  )
  expect(contents).toContain('edited 1')
  expect(contents).not.toContain('result 1')
})

test('a pipe in the place of a journal is one clear refusal, and nobody waits for it', async () => {
  const { directory } = await placeWith()
  const path = join(directory, 'journal.jsonl')
  execFileSync('mkfifo', [path])
  await expect(followJournal(path).turns()).rejects.toThrow('it is a pipe, not a file (ESPIPE).')
})

test('a follower counts a last line without its newline once', async () => {
  const { write } = await placeWith()
  const run = longRun(1)
  const text = journalText(run.events)
  const path = await write('work/.delta/r1/journal.jsonl', text.trimEnd())
  const follower = followJournal(path)
  const before = await follower.turns()
  await appendFile(path, '\n')
  expect(await follower.turns()).toEqual(before)
  expect(before.filter(({ kind }) => kind === 'cycle')).toHaveLength(1)
})
