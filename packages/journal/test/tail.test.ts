import { expect, test } from 'vitest'
import { journalFile, message, thought, toLines } from './helpers.js'
import { readTail, type StoredEvent } from './of-runs.js'

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
  const numbers = [...new Set(events.flatMap((event) => event['iteration' as never] ?? []))]
  return events.slice(events.findIndex((event) => event['iteration' as never] === numbers.at(-iterations)))
}

test('the tail begins with the first event of the N-th last iteration, or with the N-th last event', async () => {
  const events = longJournal(900, 250)
  const path = journalFile(toLines(events))
  for (const count of [1, 2, 20, 500, 899]) {
    const tail = { events: slowTail(events, count), complete: false }
    expect(await readTail(path, { iterations: count })).toEqual(tail)
    expect(await readTail(path, { events: count })).toEqual({ events: events.slice(-count), complete: false })
  }
})

test('only the end is read, whatever stands before it', async () => {
  const events = longJournal(900, 250)
  const text = toLines(events)
  const damaged = journalFile(`this is no event\n${text.slice(text.indexOf('\n') + 1)}`)
  expect((await readTail(damaged, { iterations: 20 })).events).toEqual(slowTail(events, 20))
  expect((await readTail(damaged, { events: 20 })).events).toEqual(events.slice(-20))
})

test('a tail that reaches the beginning is the whole journal, and says so', async () => {
  const events = longJournal(300)
  const path = journalFile(toLines(events))
  expect(await readTail(path, { iterations: 301 })).toEqual({ events, complete: true })
  expect(await readTail(journalFile(toLines(events.slice(0, 1))), { iterations: 5 })).toEqual({
    events: events.slice(0, 1),
    complete: true,
  })
  expect(await readTail('/nonexistent', { iterations: 5 })).toEqual({ events: [], complete: true })
})

test('a torn end and a hole of NULs are not part of the tail', async () => {
  const events = longJournal(600)
  const text = toLines(events)
  for (const torn of ['{"seq":99', `${'\0'.repeat(3_000)}\n${toLines(longJournal(20))}`]) {
    expect((await readTail(journalFile(text + torn), { iterations: 3 })).events).toEqual(slowTail(events, 3))
  }
})

test('damage within the tail is named by its line in the file', async () => {
  const lines = toLines(longJournal(600)).split('\n')
  lines[1795] = 'rubbish'
  await expect(readTail(journalFile(lines.join('\n')), { iterations: 10 })).rejects.toMatchObject({
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
  expect((await readTail(journalFile(toLines(all)), { iterations: 2 })).events).toEqual(slowTail(all, 2))
})
