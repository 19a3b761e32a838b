import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { firstEvents, openFiles, temporaryDirectory, thought } from './helpers.js'
import {
  createRun,
  latestRunId,
  listRuns,
  openRun,
  readJournal,
  readRequest,
  readRun,
  readTail,
  repairRun,
  verifyJournal,
} from './of-runs.js'

test('a run is created, written, closed and read back from its journal alone', async () => {
  const work = temporaryDirectory()
  const run = await createRun(work, { events: firstEvents })
  run.journal.append(thought(1, 'a', 'b'))
  run.journal.append({ type: 'ACTION_REQUEST', iteration: 1, action_id: 'a', attempt: 1, tool_name: 'echo' })
  run.journal.sync()
  expect((await readRun(run.directory)).status).toBe('RUNNING')
  run.close()

  expect(await latestRunId(work)).toBe(run.runId)
  const [summary] = await listRuns(work)
  expect(summary).toMatchObject({
    runId: run.runId,
    status: 'INTERRUPTED',
    lastIteration: 1,
    iterationsSinceMessage: 1,
    usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
    pendingCalls: [
      { action_id: 'a', requested: true, attempts: 1 },
      { action_id: 'b', requested: false, attempts: 0 },
    ],
  })
  expect(statSync(run.paths.journal).mode & 0o777).toBe(0o600)
  expect(statSync(run.directory).mode & 0o777).toBe(0o700)
})

test('a run is opened again under the next epoch, and numbers go on', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  run.close()
  const again = await openRun(run.directory)
  expect(again.epoch).toBe(2)
  again.journal.append(thought(1))
  again.journal.append({ type: 'ENGINE_END', status: 'COMPLETED' })
  again.close()
  expect((await readJournal(run.paths.journal)).events.map((event) => event.seq)).toEqual([1, 2, 3, 4])
  const summary = await readRun(run.directory)
  expect(summary).toMatchObject({ status: 'COMPLETED', answer: 'thought 1' })
  expect(summary.owner).toBeUndefined()
})

test('how a run ended is in its metadata; without an ENGINE_END it was killed, and an older version did not say', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  expect(run.summary().metadata.reason_code).toBeNull()
  run.close()
  expect((await readRun(run.directory)).metadata).toMatchObject({
    status: 'INTERRUPTED',
    reason_code: 'killed',
  })
  const ends = [
    ['limit_iterations', { status: 'FAILED', reason: 'No.', reason_code: 'limit_iterations' }],
    [null, { status: 'FAILED', reason: 'No.' }],
    [null, { status: 'INTERRUPTED', reason: 'SIGINT' }],
  ] as const
  for (const [reason_code, end] of ends) {
    const again = await openRun(run.directory)
    again.journal.append({ type: 'ENGINE_START', run_id: run.runId }, { type: 'ENGINE_END', ...end })
    again.close()
    expect((await readRun(run.directory)).metadata).toMatchObject({ status: end.status, reason_code })
  }
})

test('a failure whose engine was killed before the ENGINE_END stays in the summary until the next message or thought', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  const fails = (recoverable: boolean) =>
    run.journal.append({ type: 'ERROR', error_message: 'No.', recoverable })
  fails(true)
  expect(run.summary().failure).toBeUndefined()
  fails(false)
  run.journal.append({ type: 'ENGINE_START', run_id: run.runId, resumed: true })
  expect(run.summary().failure).toMatchObject({ error_message: 'No.' })
  for (const event of [
    thought(1),
    { type: 'USER_MESSAGE', content: 'Go on' },
    { type: 'ENGINE_END', status: 'FAILED' },
  ] as const) {
    fails(false)
    expect(run.summary().failure).toBeDefined()
    run.journal.append(event)
    expect(run.summary().failure).toBeUndefined()
  }
  run.close()
})

test('a last thought without calls is not the answer once the run was retried after it', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  run.journal.append(thought(1))
  expect(run.summary().answer).toBe('thought 1')
  run.journal.append({ type: 'ENGINE_START', run_id: run.runId, resumed: true, retry: true })
  expect(run.summary().answer).toBeUndefined()
  run.journal.append({ type: 'ENGINE_START', run_id: run.runId, resumed: true }, thought(2))
  expect(run.summary().answer).toBe('thought 2')
  run.close()
})

test('a run knows its events, what was appended and what somebody changed in the file', async () => {
  const created = await createRun(temporaryDirectory(), { events: firstEvents })
  created.close()
  const run = await openRun(created.directory)
  const events = await run.events()
  expect(events.map(({ type }) => type)).toEqual(['ENGINE_START', 'USER_MESSAGE'])
  run.journal.append(thought(1))
  expect(await run.events()).toBe(events)
  expect(events).toHaveLength(3)
  const { journal } = run.paths
  writeFileSync(journal, readFileSync(journal, 'utf8').replace('say hi"}\n', 'say hello"}\n'))
  const edited = await run.events()
  expect(edited).toMatchObject([{}, { content: 'say hello' }, { iteration: 1 }])
  expect(await run.events()).toBe(edited)
  run.journal.append(thought(2))
  expect(await run.events()).toBe(edited)
  expect(edited).toHaveLength(4)
  run.close()
})

test.each(['VERSION', 'LATEST', 'runs', 'context_artifacts', '../away'])(
  'no run can be called "%s"',
  async (runId) => {
    const work = temporaryDirectory()
    await expect(createRun(work, { runId, events: firstEvents })).rejects.toMatchObject({
      code: 'ERR_RUN_ID',
    })
    expect(readdirSync(work)).toEqual([])
  },
)

test('a run that is deleted while the runs are listed is left out', async () => {
  const work = temporaryDirectory()
  for (const runId of ['a', 'b']) (await createRun(work, { runId, events: firstEvents })).close()
  const listing = listRuns(work) // has the names by now, and has read no run yet
  rmSync(join(work, '.delta', 'b'), { recursive: true })
  expect((await listing).map(({ runId }) => runId)).toEqual(['a'])
})

test('a run that was moved elsewhere and is linked to is listed; a link to anything else is not', async () => {
  const work = temporaryDirectory()
  const elsewhere = temporaryDirectory()
  ;(await createRun(work, { runId: 'moved', events: firstEvents })).close()
  const runs = join(work, '.delta')
  renameSync(join(runs, 'moved'), join(elsewhere, 'moved'))
  symlinkSync(join(elsewhere, 'moved'), join(runs, 'moved'))
  symlinkSync(join(elsewhere, 'gone'), join(runs, 'dangling'))
  symlinkSync(join(runs, 'LATEST'), join(runs, 'file'))
  symlinkSync('round', join(runs, 'round'))
  expect((await listRuns(work)).map(({ runId }) => runId)).toEqual(['moved'])
})

test('a run with a line that is too long for memory is listed by what stands before it; the line is named, and not read', async () => {
  const work = temporaryDirectory()
  const run = await createRun(work, { sync: false, events: firstEvents })
  run.close()
  const journal = run.paths.journal
  for (let megabytes = 0; megabytes <= 256; megabytes += 32)
    appendFileSync(journal, Buffer.alloc(1 << 25, 'a'))
  appendFileSync(journal, `\n${JSON.stringify({ ...thought(7), seq: 3, timestamp: '' })}\n`)
  const [listed] = await listRuns(work)
  expect(listed).toMatchObject({
    metadata: { agent_name: 'greeter' },
    lastIteration: 0,
    problem: {
      code: 'ERR_JOURNAL_CORRUPT',
      line: 3,
      message: expect.stringContaining('longer than 256 MiB'),
    },
  })
})

test('the runs that another run called are listed alone, a damaged one of them too', async () => {
  const directory = temporaryDirectory()
  const calledBy = (caller: string) => (created: { runId: string; epoch: number }) =>
    firstEvents(created).map((event, index) => (index === 0 ? { ...event, parent_run: caller } : event))
  const makers = { boss: firstEvents, mine: calledBy('boss'), torn: calledBy('boss'), other: calledBy('two') }
  for (const [runId, events] of Object.entries(makers))
    (await createRun(directory, { runId, sync: false, events })).close()
  appendFileSync(join(directory, '.delta', 'torn', 'journal.jsonl'), 'no event\n')
  const called = await listRuns(directory, { calledBy: 'boss' })
  expect(called.map(({ runId, problem }) => [runId, problem !== undefined]).sort()).toEqual([
    ['mine', false],
    ['torn', true],
  ])
})

test('a directory of .delta that holds nothing of a run is not listed, also where it is the only one', async () => {
  const work = temporaryDirectory()
  mkdirSync(join(work, '.delta/context_artifacts'), { recursive: true })
  writeFileSync(join(work, '.delta/context_artifacts/notes.md'), 'computed')
  mkdirSync(join(work, '.delta/empty'))
  expect(await listRuns(work)).toEqual([])
  expect(await latestRunId(work, { orEmpty: true })).toBe(undefined)

  mkdirSync(join(work, '.delta/begun/lease'), { recursive: true })
  mkdirSync(join(work, '.delta/runs/old/execution'), { recursive: true })
  expect((await listRuns(work)).map(({ runId, status }) => [runId, status])).toEqual([
    ['begun', 'EMPTY'],
    ['old', 'EMPTY'],
  ])
})

test.skipIf(process.platform !== 'linux')(
  'no file of a run stays open after writing or reading it',
  async () => {
    const work = temporaryDirectory()
    const run = await createRun(work, { events: firstEvents })
    for (const iteration of [1, 2]) {
      const request = { messages: [{ role: 'user', content: String(iteration) }] }
      const { ref, complete } = run.requests.record({ iteration, request })
      complete({ response: {} })
      run.journal.append({ type: 'THOUGHT', iteration, content: '', tool_calls: [], llm_invocation_ref: ref })
    }
    const { directory, paths } = run
    run.close()
    ;(await openRun(directory)).close()
    await readRun(directory)
    await listRuns(work)
    await readJournal(paths.journal)
    await readTail(paths.journal, { iterations: 1 })
    await readRequest(directory, 1)
    verifyJournal(paths.journal)
    appendFileSync(paths.journal, 'rubbish\n')
    await expect(readJournal(paths.journal)).rejects.toThrow('damaged')
    await expect(openRun(directory)).rejects.toThrow('damaged')
    expect(openFiles().filter((path) => path.startsWith(work))).toEqual([])
  },
)

test('a run that belongs to another one does not become the latest, nor is it taken for it where LATEST is lost', async () => {
  const work = temporaryDirectory()
  const calledByA: typeof firstEvents = (created) =>
    firstEvents(created).map((event) => ({ ...event, parent_run: 'a' }))
  ;(await createRun(work, { runId: 'a', events: firstEvents })).close()
  ;(await createRun(work, { runId: 'b', latest: false, events: calledByA })).close()
  expect(await latestRunId(work)).toBe('a')

  rmSync(join(work, '.delta/LATEST'))
  expect(await latestRunId(work)).toBe('a')
})

test('whatever a run writes, only its owner can read', async () => {
  const work = temporaryDirectory()
  const run = await createRun(work, { events: firstEvents })
  run.requests.record({ iteration: 1, request: {} }).complete({ response: {} })
  run.close()
  const below = readdirSync(work, { recursive: true, withFileTypes: true })
  const wrong = below.filter((entry) => {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
    return mode !== (entry.isDirectory() ? 0o700 : 0o600)
  })
  expect(wrong).toEqual([])
})

test('a run whose journal was emptied is not begun anew under its id', async () => {
  const work = temporaryDirectory()
  const run = await createRun(work, { runId: 'r1', events: firstEvents })
  run.close()
  writeFileSync(run.paths.journal, '')
  await expect(createRun(work, { runId: 'r1', events: firstEvents })).rejects.toMatchObject({
    code: 'ERR_RUN_EXISTS',
  })
})

// `tsc` reads this test, too: what it refuses here, it would refuse to every program with strict settings.
const maybe = <Value>(value: Value): Value | undefined => value

test('an option may be undefined, and a list constant', async () => {
  const path = temporaryDirectory()
  const events = [
    { type: 'ENGINE_START', run_id: 'r1' },
    { type: 'USER_MESSAGE', content: 'Hi' },
  ] as const
  const run = await createRun(path, { runId: maybe('r1'), events: () => events })
  const record = run.requests.record({ iteration: 1, request: {}, blocks: undefined })
  expect(record.body.toString()).toBe('{}')
  run.requests.record({ iteration: 2, request: {}, blocks: [{ source_id: 'a' }] as const })
  run.close()
  const again = await openRun(run.directory, { force: undefined, sync: undefined })
  again.close()
  expect((await repairRun(run.directory, { force: undefined })).changed).toBe(false)
})
