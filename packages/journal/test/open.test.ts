import { appendFileSync, readdirSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { afterTest, journalFile, message, readText, temporaryDirectory, thought, toLines } from './helpers.js'
import { type NewEvent, openJournal, readJournal } from './of-runs.js'

const say = (content: string): NewEvent => ({ type: 'USER_MESSAGE', content })

test('a new journal is readable by its owner only, and its first event has number 1', () => {
  const path = join(temporaryDirectory(), 'journal.jsonl')
  const journal = openJournal(path)
  expect(journal.append(say('hello'))).toEqual([expect.objectContaining({ seq: 1, content: 'hello' })])
  journal.close()
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('several events are one write, and come back numbered and dated as they were written', async () => {
  const journal = openJournal(join(temporaryDirectory(), 'journal.jsonl'))
  const stored = journal.append(say('one'), say('two'), thought(1, 'a'))
  journal.close()
  expect((await readJournal(journal.path)).events).toEqual(stored)
  expect(readText(journal.path)).toMatch(
    /^\{"seq":1,"timestamp":"[^"]+","type":"USER_MESSAGE","content":"one"\}\n\{"seq":2,/,
  )
})

test('what a listener throws is thrown on as it is, on opening and on appending', async () => {
  const path = journalFile(toLines([message(1)]))
  const mistake = new TypeError('a mistake of the listener')
  let calls = 0
  const onEvent = () => {
    calls += 1
    if (calls !== 2) throw mistake
  }
  expect(() => openJournal(path, { onEvent })).toThrow(mistake)
  const journal = openJournal(path, { onEvent })
  expect(() => journal.append(say('it is in the journal all the same'))).toThrow(mistake)
  journal.close()
  expect((await readJournal(path)).events).toHaveLength(2)
})

test('a line torn by a crash is kept aside on open, and the journal goes on', async () => {
  const path = journalFile(`${toLines([message(1)])}{"seq":2,"ty`)
  const journal = openJournal(path)
  expect(journal.repaired).toEqual({
    tornBytes: 12,
    keptIn: expect.stringMatching(/journal\.torn-\d{8}T\d{9}$/),
  })
  journal.append(say('again'))
  journal.close()
  expect(readText(journal.repaired?.keptIn ?? '')).toBe('{"seq":2,"ty')
  expect((await readJournal(path)).events.map((event) => event.seq)).toEqual([1, 2])
})

test('a hole of NULs and the whole lines behind it are kept aside together', () => {
  const torn = '\0'.repeat(5000) + toLines([message(3), message(4)])
  const path = journalFile(toLines([message(1), message(2)]) + torn)
  const journal = openJournal(path)
  journal.close()
  expect([journal.lastSeq, readText(path)]).toEqual([2, toLines([message(1), message(2)])])
  expect(readText(journal.repaired?.keptIn ?? '')).toBe(torn)
})

test('a hole of two NULs within a line is one, a single NUL is damage: nothing is cut off for it', () => {
  const whole = toLines([message(1)])
  const journal = openJournal(journalFile(`${whole}{"seq":\0\0 1}\n${toLines([message(3)])}`))
  journal.close()
  expect([journal.lastSeq, readText(journal.path)]).toEqual([1, whole])
  for (const bytes of ['\0', '\0 \0'])
    expect(() => openJournal(journalFile(`${whole}{"seq":${bytes} 1}\n`))).toThrow(':2: This line is damaged')
})

test('a last event that lacks its newline is completed, not cut off', () => {
  const path = journalFile(toLines([message(1), message(2)]).trimEnd())
  const journal = openJournal(path)
  journal.close()
  expect([journal.lastSeq, journal.repaired]).toEqual([2, undefined])
  expect(readText(path)).toBe(toLines([message(1), message(2)]))
})

test('damage in the middle is refused, and the file stays as it was', () => {
  const text = `${toLines([message(1)])}rubbish\n${toLines([message(3)])}{"torn`
  const path = journalFile(text)
  expect(() => openJournal(path)).toThrow(`${path}:2: This line is damaged: it is not JSON.`)
  expect(readText(path)).toBe(text)
  expect(readdirSync(dirname(path))).toEqual([basename(path)])
})

test('after hand-made numbers the journal goes on from the highest', () => {
  const journal = openJournal(journalFile(toLines([message(1), message(7), message(2)])))
  expect(journal.warnings).toHaveLength(1)
  expect(journal.append(say('next'))[0]?.seq).toBe(8)
  journal.close()
})

test('an event a reader would refuse is refused before it is written', () => {
  const journal = openJournal(journalFile(''))
  const wrong = { type: 'USER_MESSAGE', content: 1 } as unknown as NewEvent
  expect(() => journal.append(say('fine'), wrong)).toThrow(
    `${journal.path}: Refused to append an event: USER_MESSAGE: "content" is not a valid string or array.`,
  )
  expect(() => journal.append({ type: 'COUNT', n: 1n } as unknown as NewEvent)).toThrow(
    'Refused to append an event',
  )
  expect([journal.lastSeq, readText(journal.path)]).toEqual([0, ''])
  journal.close()
})

test('numbers go 1, 2, 3 and names of records never repeat, whatever the clock does', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  afterTest(() => vi.useRealTimers())
  const journal = openJournal(journalFile(''))
  vi.setSystemTime(new Date('2026-11-20T12:00:00Z'))
  journal.append(say('noon'))
  vi.setSystemTime(new Date('2026-11-20T11:00:00Z'))
  expect(journal.append(say('an hour earlier'))[0]).toMatchObject({
    seq: 2,
    timestamp: '2026-11-20T11:00:00.000Z',
  })
  journal.close()
})

test('a closed journal takes no more events; closing twice is fine', () => {
  const journal = openJournal(journalFile(''))
  journal.close()
  journal.close()
  expect(() => journal.append(say('late'))).toThrow(expect.objectContaining({ code: 'ERR_JOURNAL_CLOSED' }))
})

test('the fence is asked before every append', () => {
  let lost = false
  const fence = () => {
    if (lost) throw new Error('lost')
  }
  const journal = openJournal(journalFile(''), { fence })
  journal.append(say('mine'))
  lost = true
  expect(() => journal.append(say('not mine'))).toThrow('lost')
  expect(readText(journal.path)).not.toContain('not mine')
  journal.close()
})

test('a journal that was deleted or replaced under its writer is noticed before anything leaves', () => {
  const deleted = openJournal(journalFile(''))
  deleted.append(say('one'))
  unlinkSync(deleted.path)
  expect(() => deleted.sync()).toThrow('The journal was deleted or replaced while it was being written.')

  const replaced = openJournal(journalFile(''))
  writeFileSync(`${replaced.path}~`, '')
  replaced.append(say('two'))
  renameSync(`${replaced.path}~`, replaced.path)
  expect(() => replaced.sync()).toThrow(expect.objectContaining({ code: 'ERR_JOURNAL_WRITE' }))
  expect(() => replaced.append(say('three'))).toThrow(expect.objectContaining({ code: 'ERR_JOURNAL_CLOSED' }))
})

test('a journal that was emptied or shortened under its writer is noticed, one that somebody added to is not', () => {
  const path = journalFile('{"seq":1,"timestamp":"2026-01-01T00:00:00.000Z","type":"NOTE"}\n')
  const emptied = openJournal(path)
  writeFileSync(path, '')
  emptied.append(say('one'))
  expect(() => emptied.sync()).toThrow(
    `${path}: The journal was shortened while it was being written.\n` +
      'What is no longer in it is lost. Restore the file, or continue from what is there now.',
  )

  const added = openJournal(journalFile(''))
  added.append(say('two'))
  appendFileSync(added.path, '{"seq":2,"timestamp":"2026-01-01T00:00:00.000Z","type":"NOTE"}\n')
  added.append(say('three'))
  added.close()
  expect(readText(added.path).trim().split('\n')).toHaveLength(3)
})

test('a directory that is gone is one clear message', () => {
  const directory = temporaryDirectory()
  rmSync(directory, { recursive: true })
  const path = join(directory, 'journal.jsonl')
  expect(() => openJournal(path)).toThrow(
    `${path}: Could not be written: its directory does not exist (ENOENT).\n` +
      'For a new journal, create it first. If it was deleted or moved, put it back, then continue; what is gone cannot be continued.',
  )
})
