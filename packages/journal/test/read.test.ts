import { appendFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { journalFile, message, oneOfEach, toLines } from './helpers.js'
import { readJournal, streamJournal } from './of-runs.js'

test('a journal reads back as it was written, unknown fields and types included', async () => {
  const events = [
    ...oneOfEach(),
    { seq: 13, timestamp: 't', type: 'DREAM', payload: { a: [1] } },
    { ...message(14), mood: '👍' },
  ]
  const path = journalFile(toLines(events))
  expect(await readJournal(path)).toEqual({
    events,
    tornBytes: 0,
    endOffset: statSync(path).size,
    warnings: [],
  })
  const streamed = []
  for await (const event of streamJournal(path)) streamed.push(event)
  expect(streamed).toEqual(events)
})

test('a missing file is an empty journal', async () => {
  expect(await readJournal('/nonexistent/journal.jsonl')).toEqual({
    events: [],
    tornBytes: 0,
    endOffset: 0,
    warnings: [],
  })
})

test('a hole of NULs ends the journal, whatever follows it', async () => {
  const whole = toLines([message(1), message(2)])
  const after = toLines([message(4)])
  for (const hole of ['\0'.repeat(4096), '\0', '{"seq":3,"tim\0\0\0"}\n']) {
    const { events, tornBytes } = await readJournal(journalFile(whole + hole + after))
    expect([events.length, tornBytes]).toEqual([2, (hole + after).length])
  }
})

test('a complete line that is not an event is refused with its file and number', async () => {
  const path = journalFile(
    `${toLines([message(1)])}{"seq":2,"type":"USER_MESSAGE","timestamp":"t"}\n${toLines([message(3)])}`,
  )
  await expect(readJournal(path)).rejects.toMatchObject({
    code: 'ERR_JOURNAL_CORRUPT',
    path,
    line: 2,
    message: [
      `${path}:2: This line is damaged: USER_MESSAGE: "content" is not a valid string or array.`,
      'A crash of ours tears only the end of a journal, so this was not one, and the file was left as it is.',
      'Look at the line and repair it by hand, or set it aside.',
    ].join('\n'),
    wayOut: 'repair',
  })
})

test('bytes that are not UTF-8 are damage, not replacement characters', async () => {
  const bytes = Buffer.from(toLines([message(1), message(2, 'häßlich')]))
  bytes[bytes.indexOf('ß')] = 0xff
  await expect(readJournal(journalFile(bytes))).rejects.toMatchObject({
    line: 2,
    message: expect.stringContaining('it is not UTF-8'),
  })
})

test('a last event without its newline counts, and is read again when more was added', async () => {
  const path = journalFile(toLines([message(1), message(2)]).trimEnd())
  const first = await readJournal(path)
  expect([first.events.length, first.tornBytes, first.endOffset]).toEqual([
    2,
    0,
    toLines([message(1)]).length,
  ])
  appendFileSync(path, `\n${toLines([message(3)])}`)
  const more = await readJournal(path, { fromOffset: first.endOffset })
  expect(more.events).toEqual([message(2), message(3)])
})

test('missing and repeated numbers are one warning, and blank lines none', async () => {
  const path = journalFile(`${toLines([message(1), message(3), message(3)])}\n\n${toLines([message(9)])}`)
  const { events, warnings } = await readJournal(path)
  expect(events.map((event) => event.seq)).toEqual([1, 3, 3, 9])
  expect(warnings).toEqual([
    `${path}:2: "seq" is 3 where 2 was expected; the journal continues from the highest number.`,
  ])
})

test('a message added by hand needs neither number nor time', async () => {
  const path = journalFile(
    `${toLines([message(1)])}{"type":"USER_MESSAGE","content":"by hand"}\n${toLines([message(2)])}`,
  )
  const { events, warnings } = await readJournal(path)
  expect(events[1]).toEqual({ ...message(2), content: 'by hand' })
  expect(warnings[0]).toBe(`${path}:2: "seq" is missing; the line is counted as if it had the next number.`)
})

test('reading from an offset gives what was added since, and names damage by its line in the file', async () => {
  const path = journalFile(toLines([message(1), message(2)]))
  const { endOffset } = await readJournal(path)
  appendFileSync(path, toLines([message(3)]))
  expect((await readJournal(path, { fromOffset: endOffset })).events).toEqual([message(3)])
  appendFileSync(path, 'rubbish\n')
  await expect(readJournal(path, { fromOffset: endOffset })).rejects.toMatchObject({ line: 4 })
})

test('lines longer than what is read at once are whole', async () => {
  const events = [message(1, 'x'.repeat(3_000_000)), message(2, 'é'.repeat(1_500_000)), message(3)]
  const path = journalFile(toLines(events))
  expect((await readJournal(path)).events).toEqual(events)
  writeFileSync(path, `${toLines(events)}{"seq":4,"content":"${'y'.repeat(2_000_000)}`)
  expect((await readJournal(path)).tornBytes).toBe(2_000_000 + '{"seq":4,"content":"'.length)
})

test('a line without a number far behind the beginning of a large journal costs none of the events before it', async () => {
  const text = 'x'.repeat(1000)
  const events = Array.from({ length: 3000 }, (_, index) => message(index + 1, text))
  const edited = { timestamp: '', type: 'USER_MESSAGE', content: 'by hand' }
  const path = journalFile(toLines([...events, edited]))
  const { events: read, warnings } = await readJournal(path)
  expect(read.map(({ seq }) => seq)).toEqual(Array.from({ length: 3001 }, (_, index) => index + 1))
  expect(warnings).toEqual([expect.stringContaining(':3001: "seq" is missing')])
})
