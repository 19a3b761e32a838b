import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { journalFile, oneOfEach, toLines } from './helpers.js'
import { isJournalError, openJournal } from './of-runs.js'

const whole = Buffer.from(toLines(oneOfEach()))
const ends = [...whole.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at)

test('a journal cut after any byte opens with every event that was whole, and goes on', () => {
  const path = journalFile('')
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length))
    const journal = openJournal(path, { sync: false })
    const complete = ends.filter((end) => end <= length).length // a cut just before the newline keeps the event
    expect([length, journal.lastSeq]).toEqual([length, complete])
    journal.append({ type: 'USER_MESSAGE', content: 'on' })
    journal.close()
    const kept = journal.repaired ? readFileSync(journal.repaired.keptIn) : Buffer.alloc(0)
    const before = readFileSync(path).toString('utf8').split('\n').slice(0, complete).join('\n')
    expect(whole.toString('utf8').startsWith(before)).toBe(true)
    expect(kept.length).toBe(journal.repaired?.tornBytes ?? 0)
    if (kept.length > 0) expect(whole.subarray(length - kept.length, length).equals(kept)).toBe(true)
    if (journal.repaired) rmSync(journal.repaired.keptIn)
    expect(readdirSync(dirname(path))).toHaveLength(1)
  }
})

test('a tail of NULs after any byte is cut off with the line it tore', () => {
  for (let length = 0; length <= whole.length; length += 7) {
    const path = journalFile(Buffer.concat([whole.subarray(0, length), Buffer.alloc(64)]))
    const journal = openJournal(path, { sync: false })
    expect(journal.lastSeq).toBe(ends.filter((end) => end < length).length)
    journal.close()
    expect(readFileSync(path).includes(0)).toBe(false)
  }
})

/** A flip can turn a letter into another letter; that, nothing without checksums can see. */
test('a flipped bit is refused with its line and nothing changed, or leaves events that are all still events', () => {
  const flips = fc.record({ at: fc.nat(whole.length - 2), bit: fc.nat(7) }) // the last newline: see the cuts above
  const path = journalFile('')
  fc.assert(
    fc.property(flips, ({ at, bit }) => {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
      writeFileSync(path, bytes)
      const line = ends.filter((end) => end < at).length + 1
      const outcome = tryOpen(path)
      if (outcome.lastSeq === undefined) {
        expect(Math.abs((outcome.line ?? 0) - line)).toBeLessThanOrEqual(1)
        expect(readFileSync(path).equals(bytes)).toBe(true)
        expect(readdirSync(dirname(path))).toHaveLength(1)
      } else {
        expect(outcome.repaired).toBe(false)
        expect(readFileSync(path).equals(bytes)).toBe(true)
      }
    }),
    { numRuns: 3000 },
  )
})

function tryOpen(path: string): { lastSeq?: number; line?: number | undefined; repaired?: boolean } {
  try {
    const journal = openJournal(path, { sync: false })
    journal.close()
    return { lastSeq: journal.lastSeq, repaired: journal.repaired !== undefined }
  } catch (error) {
    if (isJournalError(error) && error.code === 'ERR_JOURNAL_CORRUPT') return { line: error.line }
    throw error
  }
}
