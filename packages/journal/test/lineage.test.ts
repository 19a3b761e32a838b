import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { afterTest, firstEvents, readText, temporaryDirectory, thought, toLines } from './helpers.js'
import {
  createRun,
  foldRun,
  listRuns,
  openRun,
  type Run,
  readRun,
  type StoredEvent,
  verifyRun,
  workDirectoryOf,
} from './of-runs.js'

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

/** Ends the run as an engine does. */
function end(run: Run): void {
  const status = 'INTERRUPTED' as const
  run.journal.append({ type: 'ENGINE_END', run_id: run.runId, status, sha256: run.journal.sha256() })
  run.close()
}

test('an ENGINE_END holds the SHA-256 of all lines before it, also after a torn end and of an engine that was killed', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  run.journal.append(thought(1))
  expect(run.journal.sha256()).toBe(sha256(readFileSync(run.paths.journal)))
  run.journal.append(thought(2))
  end(run)
  const killed = await openRun(run.directory)
  killed.journal.append(thought(3))
  killed.close()
  writeFileSync(run.paths.journal, `${readText(run.paths.journal)}{"seq":6,"ty`)
  const last = await openRun(run.directory)
  last.journal.append({ type: 'SYSTEM_MESSAGE', level: 'INFO', content: 'Grüße' })
  end(last)

  const lines = readText(run.paths.journal).split(/(?<=\n)/)
  const ends = lines.flatMap((line, index) => (line.includes('ENGINE_END') ? [index] : []))
  expect(ends).toEqual([4, 7])
  for (const index of ends)
    expect(JSON.parse(lines[index] ?? '').sha256).toBe(sha256(lines.slice(0, index).join('')))
  expect(verifyRun(run.directory)).toMatchObject({ ok: true, findings: [] })
})

test('whichever bit of a finished run is flipped, verify finds it', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  for (let n = 1; n <= 3; n++) run.journal.append(thought(n, `call-${n}`))
  end(run)
  const whole = readFileSync(run.paths.journal)
  const before = whole.lastIndexOf('\n', whole.length - 2) + 1
  for (let byte = 0; byte < before; byte++) {
    const flipped = Buffer.from(whole)
    flipped[byte] = (flipped[byte] ?? 0) ^ (1 << (byte % 8))
    writeFileSync(run.paths.journal, flipped)
    expect(verifyRun(run.directory), `byte ${byte}`).toMatchObject({ ok: false })
  }
})

test('of several ENGINE_ENDs verify names the lines before the first that differs', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  end(run)
  const again = await openRun(run.directory)
  again.journal.append(thought(1))
  end(again)
  writeFileSync(run.paths.journal, readText(run.paths.journal).replace('thought 1', 'thought 2'))
  const { text } = verifyRun(run.directory)
  expect(text.split('\n').slice(1)).toEqual([
    '  line 5: Lines 3 to 4 are not as they were when this ENGINE_END recorded their SHA-256.',
    'The journal can be read and continued, but not everything is as it was written.',
  ])
})

/** A run, and a fork of it in another workspace, as lines of a file. */
async function forkByHand({ runsDirectory }: { runsDirectory?: string } = {}) {
  const parent = await createRun(temporaryDirectory(), {
    events: (run) => {
      const [start, said] = firstEvents(run)
      const about = { agent_home: '/agents/old', work_dir: '/old', parent_run: 'caller' }
      const allowed = { import_roots: ['/common'] }
      return [{ ...start, ...about, allowed } as never, said as never]
    },
  })
  parent.journal.append(thought(1))
  const copied = readText(parent.paths.journal)
  parent.close()
  const work = temporaryDirectory()
  const directory = join(runsDirectory ?? join(work, '.delta'), 'fork')
  const inherited = copied.replaceAll('}\n', ',"inherited":true}\n')
  const own = {
    seq: 4,
    timestamp: '2030-01-01T00:00:00.000Z',
    type: 'ENGINE_START',
    run_id: 'fork',
    agent_home: '/agents/new',
    work_dir: work,
    parent_run: 'other',
    resumed: true,
    parent: {
      run_id: parent.runId,
      directory: parent.directory,
      iteration: 1,
      seq: 3,
      sha256: sha256(copied),
      snapshot_id: null,
    },
  }
  mkdirSync(join(directory, 'lease'), { recursive: true })
  writeFileSync(join(directory, 'journal.jsonl'), inherited + toLines([own]))
  return { parent, work, directory, inherited, own }
}

test('who a fork is, where it works and when it began is said by its first start that is not inherited', async () => {
  const { work, directory, own } = await forkByHand()
  const run = await readRun(directory)
  expect(run.metadata).toMatchObject({
    run_id: 'fork',
    agent_home: '/agents/new',
    work_dir: work,
    parent_run: 'other',
    created_at: own.timestamp,
    initial_message: 'say hi',
    iterations: 1,
    status: 'INTERRUPTED',
    usage: { total_tokens: 0 },
  })
  expect(run).toMatchObject({ lastIteration: 1, iterationsSinceMessage: 1, totals: { own: { requests: 0 } } })
  expect(run.allowed).toBeUndefined()
  const called = async (calledBy: string) => (await listRuns(work, { calledBy })).map(({ runId }) => runId)
  expect(await called('other')).toEqual(['fork'])
  expect(await called('caller')).toEqual([])
})

test('a fork is taken with the first number of its own lease, whatever its parent had', async () => {
  const { directory, inherited } = await forkByHand()
  const path = join(directory, 'journal.jsonl')
  expect(inherited).toContain('"epoch":1')
  writeFileSync(path, readText(path).replace('"epoch":1', '"epoch":7'))
  const run = await openRun(directory)
  afterTest(run.close)
  expect(run.epoch).toBe(1)
})

test('a fork that is kept with other runs belongs to its own workspace', async () => {
  const runsDirectory = temporaryDirectory()
  const { work, directory } = await forkByHand({ runsDirectory })
  expect(workDirectoryOf(directory)).toBe(work)
  expect((await listRuns(work, { runsDirectory })).map(({ runId }) => runId)).toEqual(['fork'])
  expect(await listRuns('/old', { runsDirectory })).toEqual([])
})

test('verify says that the parent of a fork has changed, while it is there', async () => {
  const { parent, directory } = await forkByHand()
  const { journal } = parent.paths
  expect(verifyRun(directory)).toMatchObject({ ok: true, findings: [] })
  const goesOn = await openRun(parent.directory)
  goesOn.journal.append(thought(2))
  goesOn.close()
  expect(verifyRun(directory).ok).toBe(true)
  writeFileSync(journal, readText(journal).replace('thought 1', 'thought 9'))
  expect(verifyRun(directory)).toMatchObject({ ok: false, findings: [{ kind: 'changed' }] })
  expect(verifyRun(directory).text).toContain(
    `This run is a fork of ${parent.directory}, whose events up to 3 are not as they were when it was made.`,
  )
  truncateSync(journal, 5)
  expect(verifyRun(directory).ok).toBe(false)
})

test('verify names a line of a fork that is not as its parent has it, also before the fork has ended', async () => {
  const { directory } = await forkByHand()
  const path = join(directory, 'journal.jsonl')
  writeFileSync(path, readText(path).replace('thought 1', 'thought 7'))
  const { ok, findings } = verifyRun(directory)
  expect(ok).toBe(false)
  expect(findings).toMatchObject([{ kind: 'changed', line: expect.any(Number) }])
})

test('a fork whose first write was cut off after any byte never began, or began whole', async () => {
  const { directory, inherited } = await forkByHand()
  const path = join(directory, 'journal.jsonl')
  const whole = readText(path)
  for (let length = 0; length < whole.length; length += 7) {
    writeFileSync(path, whole.slice(0, length))
    const { status, problem } = await readRun(directory, { tolerant: true })
    expect([status, problem], `${length} bytes`).toEqual(['EMPTY', undefined])
  }
  expect(inherited.length).toBeLessThan(whole.length)
})

test('inherited iterations count for max_iterations, and their tokens nowhere', () => {
  const fold = foldRun()
  const events = [...firstEvents({ runId: 'a', epoch: 1 }), thought(1), thought(2)]
  const inherited = events.map((event, index) => ({ ...event, seq: index + 1, inherited: true }))
  const own = [firstEvents({ runId: 'b', epoch: 1 })[0], thought(3)]
  for (const [index, event] of [...inherited, ...own].entries())
    fold.add({ ...event, seq: index + 1, timestamp: `2030-01-01T00:00:0${index}.000Z` } as StoredEvent)
  const { iterationsSinceMessage, usage, metadata } = fold.summary(dirname('/w/.delta/b/x'), undefined)
  expect({ iterationsSinceMessage, tokens: usage.total_tokens, id: metadata.run_id }).toEqual({
    iterationsSinceMessage: 3,
    tokens: 11,
    id: 'b',
  })
})
