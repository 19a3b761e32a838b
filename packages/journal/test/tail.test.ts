import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readTail, type StoredEvent } from '../src/index.js'
import { journalFile, message, readText, thought, toLines } from './helpers.js'

const timestamp = '2026-11-20T09:30:00.000Z'
const audit = { type: 'HOOK_EXECUTION_AUDIT', hook_name: 'on_iteration_start', status: 'SUCCESS' }

/** Iterations of a hook audit, a THOUGHT and something without an iteration; the user speaks every `sayEvery`. */
function longJournal(iterations: number, sayEvery = Number.POSITIVE_INFINITY): StoredEvent[] {
  const events: object[] = [message(0, 'the task')]
  for (let iteration = 1; iteration <= iterations; iteration++) {
    events.push({ ...audit, iteration }, thought(iteration), {
      type: 'ERROR',
      error_message: 'x'.repeat(200),
    })
    if (iteration % sayEvery === 0) events.push(message(0, `go on after ${iteration}`))
  }
  return events.map((event, index) => ({ ...event, seq: index + 1, timestamp }) as StoredEvent)
}

/** What readTail promises, computed the slow way. */
function slowTail(events: StoredEvent[], iterations: number): StoredEvent[] {
  const numbers = events.flatMap((event) =>
    event.type === 'THOUGHT' ? Number(event['iteration' as never]) : [],
  )
  const wanted = numbers.at(-iterations) ?? 0
  const first = events.findIndex((event) => event['iteration' as never] === wanted)
  return events.filter((event, index) => index >= first || event.type === 'USER_MESSAGE')
}

test('the tail begins with the first event of the N-th last iteration; what the user said before comes first', async () => {
  const events = longJournal(900, 250)
  const path = journalFile(toLines(events))
  for (const iterations of [1, 2, 20, 500, 899]) {
    const tail = await readTail(path, iterations)
    expect(tail).toEqual({ events: slowTail(events, iterations), complete: false })
  }
})

test('what the user said is found also in lines of megabytes and across the blocks in which a file is read', async () => {
  const events = longJournal(9000, 3)
  const long = (index: number) =>
    ({ ...events[index], content: `said at length ${'x'.repeat(2_500_000)}` }) as StoredEvent
  const said = events.flatMap(({ type }, index) => (type === 'USER_MESSAGE' ? index : []))
  for (const index of [said[0], said[1000]].map(Number)) events[index] = long(index)
  expect(await readTail(journalFile(toLines(events)), 20)).toEqual({
    events: slowTail(events, 20),
    complete: false,
  })
})

test('without the earlier user messages only the end is read, whatever stands before it', async () => {
  const events = longJournal(900, 250)
  const text = toLines(events)
  const damaged = `this is no event\n${text.slice(text.indexOf('\n') + 1)}`
  const { events: tail } = await readTail(journalFile(damaged), 20, { userMessages: false })
  expect(tail).toEqual(slowTail(events, 20).filter(({ seq }) => seq >= (tail[0]?.seq ?? 0)))
  expect(tail).toHaveLength(20 * 3)
})

test('a tail that reaches the beginning is the whole journal, and says so', async () => {
  const events = longJournal(300)
  const path = journalFile(toLines(events))
  expect(await readTail(path, 301)).toEqual({ events, complete: true })
  expect(await readTail(journalFile(toLines(events.slice(0, 1))), 5)).toEqual({
    events: events.slice(0, 1),
    complete: true,
  })
  expect(await readTail('/nonexistent', 5)).toEqual({ events: [], complete: true })
})

test('a torn end and a hole of NULs are no part of the tail', async () => {
  const events = longJournal(600)
  const text = toLines(events)
  for (const torn of ['{"seq":99', `${'\0'.repeat(300_000)}\n${toLines(longJournal(2000))}`]) {
    expect((await readTail(journalFile(text + torn), 3)).events).toEqual(slowTail(events, 3))
  }
})

test('what is appended between two calls is in the second tail', async () => {
  const events = longJournal(600, 100)
  const path = journalFile(toLines(events.slice(0, 1500)))
  await readTail(path, 3)
  appendFileSync(path, toLines(events.slice(1500)))
  expect((await readTail(path, 3)).events).toEqual(slowTail(events, 3))
})

test('a journal edited by hand between two calls is noticed, however it was saved', async () => {
  const events = longJournal(600, 100)
  const path = journalFile(toLines(events))
  await readTail(path, 3)

  const edits = [
    (text: string) => text.replace('go on after 100', 'GO ON AFTER 100'),
    (text: string) => text.replace('go on after 200', 'never mind, go home'),
    (text: string) => text.replace(/.*go on after 300.*\n/, ''),
    (text: string) => `${toLines([message(1, 'first of all')])}${text}`,
    (text: string) => text.replace(/(?<=go on after 500.*\n)/, toLines([message(1, 'last of all')])),
  ]
  for (const edit of edits) {
    writeFileSync(path, edit(readText(path))) // the same file, as some editors do it
    const now = readText(path)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as StoredEvent)
    expect((await readTail(path, 3)).events).toEqual(slowTail(now, 3))
  }
})

test('a message added by hand without a number is found far before the tail', async () => {
  const lines = toLines(longJournal(600)).split('\n')
  lines.splice(5, 0, '{"type":"USER_MESSAGE","content":"by hand"}')
  const { events } = await readTail(journalFile(lines.join('\n')), 2)
  expect(events.slice(0, 2)).toMatchObject([{ content: 'the task' }, { content: 'by hand' }])
})

test('damage within the tail is named by its line in the file', async () => {
  const lines = toLines(longJournal(600)).split('\n')
  lines[1795] = 'rubbish'
  await expect(readTail(journalFile(lines.join('\n')), 10)).rejects.toMatchObject({
    code: 'ERR_JOURNAL_CORRUPT',
    line: 1796,
  })
})

test('an iteration longer than any window is found whole', async () => {
  const events = [message(1, 'task'), ...longJournal(3).slice(1)].map((event, index) => ({
    ...event,
    seq: index + 1,
  }))
  const big = {
    ...events[4],
    error_message: 'y'.repeat(900_000),
    error_details: 'z'.repeat(900_000),
  } as StoredEvent
  const all = [
    ...events.slice(0, 4),
    { ...events[4], content: 'y'.repeat(1_500_000) } as StoredEvent,
    ...events.slice(5),
    { ...big, seq: 11, type: 'ERROR' } as StoredEvent,
  ]
  expect((await readTail(journalFile(toLines(all)), 2)).events).toEqual(slowTail(all, 2))
})

test('of a directory in the place of the journal it is said that it cannot be read', async () => {
  const path = journalFile('')
  rmSync(path)
  mkdirSync(path)
  await expect(readTail(path, 1)).rejects.toMatchObject({ code: 'ERR_JOURNAL_READ', path })
})
