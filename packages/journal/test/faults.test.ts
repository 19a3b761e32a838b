import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { smallDisk } from '@delta/testkit'
import { expect, test } from 'vitest'
import { afterTest, firstEvents, openFiles, readText, temporaryDirectory } from './helpers.js'
import {
  createRun,
  listRuns,
  type NewEvent,
  openJournal,
  openRun,
  readJournal,
  readRun,
  repairRun,
} from './of-runs.js'

const _isRoot = process.getuid?.() === 0

const note = (content: string): NewEvent => ({ type: 'SYSTEM_MESSAGE', level: 'INFO', content })

test('on a full disk an append fails as a whole, says what to do, and the journal goes on once there is space', async ({
  skip,
}) => {
  await using disk = await smallDisk('size=512k')
  if (!disk.mounted) return skip()
  writeFileSync(join(disk.path, 'ballast'), Buffer.alloc(300_000))
  const path = join(disk.path, 'journal.jsonl')
  const journal = openJournal(path)
  let appended = 0
  let failure: unknown
  while (failure === undefined) {
    try {
      appended = journal.append(note('x'.repeat(30_000)), note('second of the pair')).at(-1)?.seq ?? 0
    } catch (error) {
      failure = error
    }
  }
  expect(failure).toMatchObject({ code: 'ERR_JOURNAL_WRITE', cause: { code: 'ENOSPC' } })
  expect((failure as Error).message).toBe(
    `${path}: Could not be written: no space is left on the disk (ENOSPC).\n` +
      'What was recorded before is whole. Free some space, then continue.',
  )
  expect(await readJournal(path)).toMatchObject({ tornBytes: 0, warnings: [] })
  expect([journal.lastSeq, (await readJournal(path)).events.length]).toEqual([appended, appended])

  rmSync(join(disk.path, 'ballast'))
  expect(journal.append(note('there is space again'))[0]?.seq).toBe(appended + 1)
  journal.close()
  expect((await readJournal(path)).events).toHaveLength(appended + 1)
})

test('on a full disk a run is released all the same: the next to open it, in this process too, finds no owner', async ({
  skip,
}) => {
  await using disk = await smallDisk('size=512k')
  if (!disk.mounted) return skip()
  const run = await createRun(disk.path, { events: firstEvents })
  const ballast = join(disk.path, 'ballast')
  expect(() => writeFileSync(ballast, Buffer.alloc(600_000))).toThrow('ENOSPC')
  run.close()
  rmSync(ballast)
  const again = await openRun(run.directory)
  expect(again.notices).toEqual([])
  again.close()
})

test('a disk too full for a run leaves nothing that is taken for one', async ({ skip }) => {
  await using disk = await smallDisk('size=64k')
  if (!disk.mounted) return skip()
  mkdirSync(join(disk.path, '.delta'))
  const ballast = join(disk.path, 'ballast')
  try {
    writeFileSync(ballast, Buffer.alloc(200_000))
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' })
  }
  const failure = await createRun(disk.path, { runId: 'r', events: firstEvents }).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ code: 'ERR_JOURNAL_WRITE' })
  expect((await listRuns(disk.path)).filter((run) => run.status !== 'EMPTY')).toEqual([])
  rmSync(ballast)
  const run = await createRun(disk.path, { runId: 'r', events: firstEvents })
  run.close()
  expect((await readRun(run.directory)).status).toBe('INTERRUPTED')
})

test('on a full disk a torn journal stays as it is, with no half copy of its end beside it, until there is space', async ({
  skip,
}) => {
  await using disk = await smallDisk('size=512k')
  if (!disk.mounted) return skip()
  const path = join(disk.path, 'journal.jsonl')
  const whole = '{"seq":1,"timestamp":"t","type":"USER_MESSAGE","content":"hi"}\n'
  const text = `${whole}{"seq":2,"content":"${'x'.repeat(300_000)}`
  writeFileSync(path, text)
  expect(() => openJournal(path)).toThrow('no space is left on the disk (ENOSPC).')
  expect(readdirSync(disk.path)).toEqual(['journal.jsonl'])
  expect(readText(path)).toBe(text)

  truncateSync(path, 200_000)
  const journal = openJournal(path)
  journal.close()
  expect([journal.repaired?.tornBytes, readText(path)]).toEqual([200_000 - whole.length, whole])
})

test('a run on a read-only disk can be read, and opening it is one clear refusal', async ({ skip }) => {
  await using disk = await smallDisk('size=1024k')
  if (!disk.mounted) return skip()
  const run = await createRun(disk.path, { events: firstEvents })
  run.close()
  disk.makeReadOnly()
  expect((await readRun(run.directory)).status).toBe('INTERRUPTED')
  await expect(openRun(run.directory)).rejects.toThrow(
    `${run.paths.lease}: Could not be written: the file system is read-only (EROFS).\n` +
      'What was recorded before is whole. Mount it read-write, or use another directory, then continue.',
  )
})

test('a journal on a disk that cannot be written: a whole one needs no repair, of a damaged one the error says that it is as it was', async ({
  skip,
}) => {
  await using disk = await smallDisk()
  if (!disk.mounted) return skip()
  const run = await createRun(disk.path, { events: firstEvents })
  run.close()
  const big = join(disk.path, 'big')
  const fill = () => expect(() => writeFileSync(big, Buffer.alloc(9_000_000))).toThrow('ENOSPC')
  fill()
  expect((await repairRun(run.directory)).text).toBe(`${run.paths.journal}: There is nothing to repair.`)

  rmSync(big)
  const damaged = readFileSync(run.paths.journal, 'utf8').replace('{', '')
  writeFileSync(run.paths.journal, damaged)
  fill()
  await expect(repairRun(run.directory)).rejects.toThrow(
    `${run.paths.lease}: Could not be written: no space is left on the disk (ENOSPC).\n` +
      'The journal is as it was. Free some space, then repair it.',
  )
  disk.makeReadOnly()
  await expect(repairRun(run.directory)).rejects.toThrow(
    'The journal is as it was. Mount it read-write, or use another directory, then repair it.',
  )
  expect(readFileSync(run.paths.journal, 'utf8')).toBe(damaged)
})

test('metadata.json lost, torn or a lie changes nothing: the journal is what counts', async () => {
  const work = temporaryDirectory()
  const run = await createRun(work, { events: firstEvents })
  run.close()
  const truth = await readRun(run.directory)
  for (const content of ['', '{"run_id":"x","sta', '{"status":"COMPLETED"}']) {
    writeFileSync(run.paths.metadata, content)
    expect(await listRuns(work)).toEqual([truth])
  }
  rmSync(run.paths.metadata)
  const again = await openRun(run.directory)
  await again.updateMetadata()
  again.close()
  expect(JSON.parse(readText(run.paths.metadata))).toEqual({
    ...truth.metadata,
    status: 'RUNNING',
    reason_code: null,
  })
})

test('a run whose records were deleted is given back all the same, and says what was lost', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  run.requests.record({ iteration: 1, request: { messages: [{ role: 'user', content: 'hi' }] } })
  rmSync(run.paths.parts)
  expect(run.close).toThrow(`${run.paths.parts}: The journal was deleted or replaced`)
  const again = await openRun(run.directory)
  expect(again.notices).toEqual([])
  again.close()
})

test('a request that does not fit on the disk leaves no record and no open file', async ({ skip }) => {
  await using disk = await smallDisk('size=512k')
  if (!disk.mounted) return skip()
  const run = await createRun(disk.path, { events: firstEvents })
  afterTest(run.close)
  const record = () => run.requests.record({ iteration: 1, request: { messages: [] }, blocks: [LARGE] })
  expect(record).toThrow('ENOSPC')
  expect(readdirSync(run.paths.invocations)).toEqual([])
  const openRecords = openFiles().filter((path) => path.startsWith(run.paths.invocations))
  expect(openRecords).toEqual([])
})

const LARGE = { text: 'x'.repeat(600_000) }
