import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import {
  afterTest,
  firstEvents,
  journalFile,
  message,
  oneOfEach,
  readText,
  temporaryDirectory,
  thought,
  toLines,
} from './helpers.js'
import {
  createRun,
  openJournal,
  openRun,
  readJournal,
  repairJournal,
  repairRun,
  verifyJournal,
  verifyRun,
} from './of-runs.js'

test('a sound journal has nothing to tell and nothing to repair', () => {
  const path = journalFile(toLines(oneOfEach()))
  expect(verifyJournal(path)).toMatchObject({
    ok: true,
    events: 12,
    findings: [],
    text: `${path}: 12 events.\nThe journal can be read and continued.`,
  })
  expect(repairJournal(path)).toEqual({
    path,
    changed: false,
    removed: [],
    text: `${path}: There is nothing to repair.`,
  })
  expect(verifyJournal('/nonexistent').ok).toBe(true)
})

const [first, second, third] = [message(1), message(2, 'zwei'), message(3)].map((event) => toLines([event]))
const damaged = `${first}rub\u001b[31mbish\n${second}{"seq":9,"timestamp":"t","type":"THOUGHT"}\n${third}{"torn`

test('every damaged line is listed with its place and reason, and no terminal acts on what it holds', () => {
  const path = journalFile(damaged)
  const { ok, text } = verifyJournal(path)
  expect(ok).toBe(false)
  expect(text.split('\n')).toEqual([
    `${path}: 3 events.`,
    `  line 2: Damaged: it is not JSON (12 bytes from byte ${first?.length} on): "rub\\u001b[31mbish"`,
    expect.stringMatching(
      /^ {2}line 4: Damaged: THOUGHT: "iteration" is not a valid number \(42 bytes from byte \d+ on\): "\{\\"seq\\":9/,
    ),
    expect.stringMatching(
      /^ {2}Torn end: half a line, 6 bytes from byte \d+ on\. Opening the journal sets them aside\.$/,
    ),
    '2 lines are damaged. Repair by hand, or set aside.',
  ])
  expect(readText(path)).toBe(damaged)
})

test('of a damaged line that is long only the beginning is shown', () => {
  const { text } = verifyJournal(journalFile(`${'rubbish '.repeat(1000)}\n`))
  expect(text.split('\n')[1]).toBe(
    `  line 1: Damaged: it is not JSON (8000 bytes from byte 0 on): "${'rubbish '.repeat(8).slice(0, 60)}…"`,
  )
})

test('repair keeps the journal as it was, whole, and leaves every sound line as it is', async () => {
  const path = journalFile(damaged)
  const { changed, keptIn, removed, text } = repairJournal(path)
  expect([changed, removed.map(({ kind }) => kind)]).toEqual([true, ['damage', 'damage', 'torn']])
  expect(text).toContain(`The journal as it was is kept, whole, in ${keptIn}`)
  expect(readText(keptIn ?? '')).toBe(damaged)
  expect(readText(path)).toBe(`${first}${second}${third}`)
  expect((await readJournal(path)).events).toHaveLength(3)
  expect(readdirSync(dirname(path))).toHaveLength(2)
})

test('where the journal cannot be kept under another name it is not repaired', () => {
  const path = journalFile(damaged)
  const file = openSync(path, 'r')
  afterTest(() => closeSync(file))
  expect(() => repairJournal(`/dev/fd/${file}`)).toThrow(
    expect.objectContaining({ code: 'ERR_JOURNAL_WRITE', path: expect.stringContaining('before-repair') }),
  )
  expect(readText(path)).toBe(damaged)
})

test('a break of "every call has exactly one result" is a note, not damage', () => {
  const events = oneOfEach()
  const again = { ...events[4], seq: 13 }
  const stray = { ...events[4], seq: 14, action_id: 'nobody' }
  const later = {
    ...events[2],
    seq: 15,
    tool_calls: [{ id: 'b', action_id: 'b', name: 'echo', arguments: '' }],
  }
  const last = { ...later, seq: 16, tool_calls: [{ id: 'b', action_id: 'b', name: 'echo', arguments: '' }] }
  const { ok, findings } = verifyRun(dirname(journalFile(toLines([...events, again, stray, later, last]))))
  expect(ok).toBe(true)
  expect(findings.map((finding) => finding.message)).toEqual([
    'Event 14 is the result of nobody, which no THOUGHT asked for.',
    'Event 16 uses the action id b a second time.',
    'echo (a, asked for by event 3) has 2 results.',
  ])
})

test('notes name missing and repeated numbers line by line, and a last line without its newline', () => {
  const text = `${toLines([message(1), message(4)])}{"type":"USER_MESSAGE","content":"hand"}\n${toLines([message(4)]).trimEnd()}`
  expect(verifyJournal(journalFile(text)).findings).toEqual([
    { kind: 'note', line: 4, message: 'The last event lacks its newline; opening the journal completes it.' },
    { kind: 'note', line: 2, message: '"seq" is 4 where 2 was expected.' },
    { kind: 'note', line: 3, message: '"seq" is missing.' },
    { kind: 'note', line: 4, message: '"seq" is 4 where 6 was expected.' },
  ])
})

test('the journal of a run needs a start, and a message or a thought, to be continued', () => {
  const start = { ...message(1), type: 'ENGINE_START', run_id: 'r' }
  const thinking = { seq: 2, timestamp: start.timestamp, ...thought(1) }
  const missing = (...events: object[]) =>
    verifyRun(dirname(journalFile(toLines(events)))).findings.map((finding) => finding.message)
  const noStart = 'It has no ENGINE_START, which names the agent: the run cannot be continued.'
  expect(missing(start, message(2))).toEqual([])
  expect(missing(start, thinking)).toEqual([])
  expect(missing(message(1), thinking)).toEqual([noStart])
  expect(missing(start)).toEqual([
    'It has no USER_MESSAGE, which says what is to be done: the run cannot be continued.',
  ])
  expect(verifyRun('/nonexistent')).toMatchObject({
    ok: false,
    findings: [{ kind: 'beginning', message: noStart }],
  })
  expect(verifyJournal('/nonexistent').ok).toBe(true)
})

test('a journal that is a symbolic link to itself is not taken for an empty one', () => {
  const path = join(temporaryDirectory(), 'journal.jsonl')
  symlinkSync(path, path)
  const refusal = `${path}: Could not be read: it is a symbolic link that leads to itself (ELOOP).\nPut back the file that was there, or remove what is in its place.`
  for (const look of [verifyJournal, repairJournal]) expect(() => look(path)).toThrow(refusal)
})

test('the journal of a run is repaired by its only writer, and the run goes on', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  await expect(repairRun(run.directory)).rejects.toMatchObject({ code: 'ERR_RUN_BUSY' })
  run.journal.append({ type: 'SYSTEM_MESSAGE', level: 'INFO', content: 'spoil me' })
  run.close()
  writeFileSync(run.paths.journal, readText(run.paths.journal).replace('"INFO"', '"INFO'))
  await expect(openRun(run.directory)).rejects.toMatchObject({ code: 'ERR_JOURNAL_CORRUPT', line: 3 })

  expect((await repairRun(run.directory)).changed).toBe(true)
  const again = await openRun(run.directory)
  afterTest(again.close)
  expect(again.journal.lastSeq).toBe(2)
})

test('a link in the place of a run is not repaired: the journal that it leads to stays as it is', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  run.close()
  appendFileSync(run.paths.journal, 'no event\n')
  const damaged = readText(run.paths.journal)
  const link = join(temporaryDirectory(), '.delta/run')
  mkdirSync(dirname(link))
  symlinkSync(run.directory, link)
  await expect(repairRun(link)).rejects.toMatchObject({ code: 'ERR_RUNS_DIRECTORY', path: link })
  expect(readText(run.paths.journal)).toBe(damaged)
})

test('a run that is not there is not made by its repair', async () => {
  const directory = join(temporaryDirectory(), '.delta', 'gone')
  await expect(repairRun(directory)).rejects.toMatchObject({ code: 'ERR_RUN_NOT_FOUND' })
  expect(existsSync(directory)).toBe(false)
})

test('of a last line without its newline, verify and opening say the same', async () => {
  const byHand = '{"type":"USER_MESSAGE","content":"by hand"}'
  const added = journalFile(`${toLines([message(1)])}\n\n${byHand}`)
  expect(verifyJournal(added).findings.map(({ line, message }) => [line, message])).toEqual([
    [4, 'The last event lacks its newline; opening the journal completes it.'],
    [4, '"seq" is missing.'],
  ])
  const journal = openJournal(added)
  expect([journal.lastSeq, journal.repaired]).toEqual([2, undefined])
  journal.close()
  expect((await readJournal(added)).events).toMatchObject([{ seq: 1 }, { seq: 2, content: 'by hand' }])

  const wrong = journalFile(`${toLines([message(1)])}{"seq":2,"timestamp":"t","type":"USER_MESSAGE"}`)
  expect(verifyJournal(wrong).findings).toMatchObject([{ kind: 'damage', line: 2 }])
  expect(() => openJournal(wrong)).toThrow(expect.objectContaining({ code: 'ERR_JOURNAL_CORRUPT', line: 2 }))
  expect(repairJournal(wrong).removed).toHaveLength(1)
  expect((await readJournal(wrong)).events).toEqual([message(1)])
})
