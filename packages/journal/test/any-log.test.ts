import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takeLock } from '@delta/durable'
import { expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import {
  openJournal,
  type RawLine,
  readJournal,
  readTail,
  repairJournal,
  streamJournal,
  verifyJournal,
} from '../src/index.js'
import { journalFile, temporaryDirectory, toLines } from './helpers.js'

const order = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ORDERED'), cup: z.string() }),
  z.object({ type: z.literal('PAID'), cup: z.string(), cents: z.int() }),
])
type Order = z.infer<typeof order>
const timestamp = '2026-11-20T09:30:00.000Z'

test('a schema of zod checks what goes in and what comes out, and gives both their types', async () => {
  const path = join(temporaryDirectory(), 'coffee.jsonl')
  const log = openJournal(path, { schema: order })
  const [paid] = log.append({ type: 'PAID', cup: 'espresso', cents: 180 })
  expectTypeOf(paid).toEqualTypeOf<(Order & { seq: number; timestamp: string }) | undefined>()
  // @ts-expect-error no price in cents
  expect(() => log.append({ type: 'PAID', cup: 'espresso', cents: '1.80' })).toThrow(
    `${path}: Refused to append an event: PAID: "cents": Invalid input: expected number, received string.`,
  )
  log.close()
  expect((await readJournal(path, { schema: order })).events.map(({ cup }) => cup)).toEqual(['espresso'])
  appendFileSync(path, toLines([{ seq: 2, timestamp, type: 'PAID', cup: 'latte' }]))
  const refusal = { code: 'ERR_JOURNAL_CORRUPT', line: 2 }
  await expect(readJournal(path, { schema: order })).rejects.toMatchObject(refusal)
  await expect(readTail(path, { events: 1, schema: order })).rejects.toMatchObject(refusal)
  await expect(streamJournal(path, { schema: order }).next()).rejects.toMatchObject(refusal)
  expect(() => openJournal(path, { schema: order })).toThrow(/line is damaged: PAID: "cents"/)
  expect(verifyJournal(path, { schema: order }).ok).toBe(false)
  expect(repairJournal(path, { schema: order }).removed).toHaveLength(1)
  expect((await readJournal(path, { schema: order })).events).toHaveLength(1)
})

test('no name of an event is taken: a THOUGHT of your own may hold what it likes', async () => {
  const path = join(temporaryDirectory(), 'diary.jsonl')
  const diary = openJournal(path)
  diary.append({ type: 'THOUGHT', about: 'the sea' }, { type: 'RUN_START', kilometres: 5 })
  diary.close()
  const events = [
    { seq: 1, type: 'THOUGHT', about: 'the sea' },
    { seq: 2, type: 'RUN_START', kilometres: 5 },
  ]
  expect((await readJournal(path)).events).toMatchObject(events)
  expect(verifyJournal(path).findings).toEqual([])
  openJournal(path).close()
  expect((await readTail(path, { events: 2 })).events).toMatchObject(events)
})

test('lines of an earlier format are read as events of today, once the schema says how', async () => {
  const path = journalFile(toLines([{ type: 'coffee', name: 'espresso' }]))
  const upcast = (lines: RawLine[]) => lines.map(({ name }) => ({ type: 'ORDERED', cup: name }))
  const schema = { '~standard': order['~standard'], upcast }
  const { events } = await readJournal(path, { schema })
  expect(events).toMatchObject([{ seq: 1, type: 'ORDERED', cup: 'espresso' }])
})

test('with a lock two writers cannot have one log, and who lost it writes nothing more', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'coffee.jsonl')
  const onHeld = () => Promise.reject(new Error('it is held'))
  const lock = await takeLock(`${path}.lock`, { onHeld })
  const log = openJournal(path, { lock })
  log.append({ type: 'ORDERED' })
  await expect(takeLock(`${path}.lock`, { onHeld })).rejects.toThrow('it is held')

  const other = await takeLock(`${path}.lock`, { onHeld: async () => true })
  expect(() => log.append({ type: 'PAID' })).toThrow(expect.objectContaining({ code: 'ERR_JOURNAL_LOST' }))
  const now = openJournal(path, { lock: other })
  now.append({ type: 'PAID' })
  now.close()
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3)
  const third = await takeLock(`${path}.lock`, { onHeld }) // closing released it
  third.release()
})

test('errors of the disk know nothing but the journal', () => {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'file'), '')
  for (const path of [directory, join(directory, 'file', 'below'), join(directory, 'gone', 'log')]) {
    let message = ''
    try {
      openJournal(path)
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).toContain('Could not be written')
    expect(message.slice(path.length)).not.toMatch(/\brun\b|delta/)
  }
})

test('what JSON makes of an event is what is checked and returned: a reader finds no other', async () => {
  const path = join(temporaryDirectory(), 'log')
  const log = openJournal(path, { schema: z.object({ type: z.literal('MET'), at: z.date() }) })
  expect(() => log.append({ type: 'MET', at: new Date() })).toThrow(/expected date, received string/)
  log.close()
  const plain = openJournal(path)
  const stored = plain.append({ type: 'MET', at: new Date(0), nobody: undefined })
  plain.close()
  expect((await readJournal(path)).events).toEqual(stored)
  expect(stored).toMatchObject([{ seq: 1, at: '1970-01-01T00:00:00.000Z' }])
})

test('a schema that says nothing of a line it was to upcast is named', () => {
  const schema = { '~standard': order['~standard'], upcast: () => [] }
  const path = journalFile(toLines([{ type: 'coffee' }]))
  expect(() => openJournal(path, { schema })).toThrow(/upcast gives nothing for it/)
})

test('a device in the place of a journal is refused, and not read without end', () => {
  expect(() => openJournal('/dev/zero')).toThrow(/something else of that name is in the way/)
})
