import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { LockRecord } from '@delta/durable'
import { isAlive } from '@delta/testkit'
import { expect, test } from 'vitest'
import { afterTest, firstEvents, readText, runChild, temporaryDirectory } from './helpers.js'
import { createRun, openRun, type Run, readJournal, readRun } from './of-runs.js'

/** A run that was created and released. */
async function closedRun(): Promise<Run> {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  run.close()
  return run
}

/** Puts a lease of somebody else on top, its last sign of life `ageMs` ago. */
function putLease(run: Run, changes: Partial<LockRecord>, ageMs = 0): void {
  const highest = Math.max(...readdirSync(run.paths.lease).map(Number))
  const { released: _, ...mine } = JSON.parse(readText(join(run.paths.lease, String(highest)))) as LockRecord
  const path = join(run.paths.lease, String(highest + 1))
  writeFileSync(path, JSON.stringify({ ...mine, host: 'elsewhere', ...changes }))
  const heartbeat = new Date(Date.now() - ageMs)
  utimesSync(path, heartbeat, heartbeat)
}

async function holder(run: Run, preload?: string) {
  // A URL, because a path may hold a space.
  const env = preload ? { NODE_OPTIONS: `--import ${new URL(preload, import.meta.url).href}` } : {}
  const child = runChild('holder.mjs', [run.directory], env)
  expect(await child.line()).toBe('ready')
  child.say('open')
  expect(await child.line()).toMatch(/^epoch /)
  return child
}

const open = (run: Run, options?: { force: boolean }) => openRun(run.directory, options)

test('of ten processes that open one run at once exactly one wins, the others change nothing', async () => {
  const run = await closedRun()
  const before = readText(run.paths.journal)
  const children = Array.from({ length: 10 }, () => runChild('holder.mjs', [run.directory]))
  for (const child of children) expect(await child.line()).toBe('ready')
  for (const child of children) child.say('open')
  const answers = await Promise.all(children.map((child) => child.line()))
  expect(answers.toSorted()).toEqual([...Array(9).fill('ERR_RUN_BUSY'), 'epoch 2'])
  expect(readText(run.paths.journal)).toBe(before)
  expect(readdirSync(run.paths.lease).sort()).toEqual(['1', '2'])
})

test('a live owner blocks, the message says who and what to do, and its end unblocks', async () => {
  const run = await closedRun()
  const child = await holder(run)
  expect((await readRun(run.directory)).owner).toMatchObject({ pid: child.process.pid, alive: true })
  const refusal = await open(run).catch((error: Error) => error)
  expect(refusal).toMatchObject({ code: 'ERR_RUN_BUSY', wayOut: 'take' })
  expect((refusal as Error).message).toMatch(
    new RegExp(
      `^${run.directory}: process ${child.process.pid} on \\S+ is writing this run\\. Nothing was changed\\.$`,
    ),
  )
  child.say('close')
  expect(await child.line()).toBe('closed')
  const again = await open(run)
  expect(again.notices).toEqual([])
  again.close()
})

test('a killed owner is taken over without force, and a notice says so', async () => {
  const run = await closedRun()
  const child = await holder(run)
  child.process.kill('SIGKILL')
  await child.ended
  expect((await readRun(run.directory)).status).toBe('INTERRUPTED')
  const again = await open(run)
  afterTest(again.close)
  expect(again.epoch).toBe(3)
  expect(again.notices).toEqual([
    expect.stringMatching(
      new RegExp(
        `^The run was taken over from process ${child.process.pid} on .+, which ended without releasing it\\.$`,
      ),
    ),
  ])
})

test('a frozen owner is alive: it blocks, and force ends it for good', async () => {
  const run = await closedRun()
  const child = await holder(run)
  child.process.kill('SIGSTOP')
  await expect(open(run)).rejects.toMatchObject({ code: 'ERR_RUN_BUSY' })
  const again = await open(run, { force: true })
  expect(again.notices).toEqual([
    expect.stringMatching(/^The run was taken over from process .+, which was ended\.$/),
  ])
  afterTest(again.close)
  expect(isAlive(child.process.pid ?? 0)).toBe(false)
  expect((await child.ended).signal).toMatch(/SIGTERM|SIGKILL/)
  expect(again.epoch).toBe(3)
})

test('force also ends an owner whose start was never known', async () => {
  const run = await closedRun()
  const child = await holder(run)
  putLease(run, { pid: child.process.pid ?? 0, process_start: null })
  const again = await open(run, { force: true })
  afterTest(again.close)
  expect(isAlive(child.process.pid ?? 0)).toBe(false)
})

test('one process does not take a run from itself, with force neither', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  afterTest(run.close)
  await expect(open(run, { force: true })).rejects.toMatchObject({ code: 'ERR_RUN_BUSY' })
})

test('an owner that cannot be seen blocks while its heart beats', async () => {
  for (const elsewhere of [{ boot_id: 'another-boot' }, { pid_namespace: 'pid:[1]' }]) {
    const run = await closedRun()
    putLease(run, elsewhere, 1_000)
    const refusal = await open(run).catch((error: Error) => error)
    expect((refusal as Error).message).toBe(
      `${run.directory}: process ${process.pid} on elsewhere is writing this run. Nothing was changed.\n` +
        'It cannot be seen from here (another machine, container or boot) and its last sign of life is less than\n' +
        '30 s old. Try again later, or take the run if you know that it is gone.',
    )
  }
})

test('an owner that cannot be seen is taken over once its heartbeat has expired, or by force, in a copy of the journal', async () => {
  const cases = [
    { ageMs: 31_000, force: false },
    { ageMs: -3_600_000, force: false }, // the clock was set back an hour since
    { ageMs: 0, force: true },
  ]
  for (const { ageMs, force } of cases) {
    const run = await closedRun()
    putLease(run, { boot_id: 'another-boot' }, ageMs)
    const before = statSync(run.paths.journal).ino
    const again = await open(run, { force })
    expect(again.notices[0]).toContain('which cannot be seen from here; it goes on in a copy of the journal.')
    expect(again.epoch).toBe(3)
    again.close()
    expect(statSync(run.paths.journal).ino).not.toBe(before)
  }
})

test('the next append of a frozen writer whose run was taken fails, and writes nothing', async () => {
  const run = await closedRun()
  const child = await holder(run)
  child.process.kill('SIGSTOP')
  const taker = await takeFrom(run)
  taker.journal.append({ type: 'USER_MESSAGE', content: 'mine' })
  child.process.kill('SIGCONT')
  child.say('append late')
  expect(await child.line()).toBe('ERR_RUN_LOST')
  taker.close()
  expect(readText(run.paths.journal)).not.toContain('late')
  expect((await readJournal(run.paths.journal)).events.map((event) => event.seq)).toEqual([1, 2, 3])
})

test('a writer frozen between its check and its write cannot write into the run that was taken from it', async () => {
  const run = await closedRun()
  const child = await holder(run, 'freeze-before-write.mjs')
  child.say('append frozen')
  await stopped(child.process.pid ?? 0)
  const taker = await takeFrom(run)
  taker.journal.append({ type: 'USER_MESSAGE', content: 'mine' })
  child.process.kill('SIGCONT')
  expect(await child.line()).toBe('ERR_JOURNAL_WRITE')
  taker.close()
  expect(readText(run.paths.journal)).not.toContain('frozen')
  expect((await readJournal(run.paths.journal)).events).toHaveLength(3)
})

/** Takes a run from its live owner as another machine would, when the heartbeat has long stopped. */
async function takeFrom(run: Run): Promise<Run> {
  const path = join(run.paths.lease, '2')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readText(path)), boot_id: 'another-boot' }))
  const longAgo = new Date(Date.now() - 31_000)
  utimesSync(path, longAgo, longAgo)
  return await openRun(run.directory)
}

async function stopped(pid: number): Promise<void> {
  while (!/\) T /.test(readText(`/proc/${pid}/stat`))) await new Promise(setImmediate)
}

test('an owner whose lease is deleted stops before its next append, and touches no lease of another', async () => {
  const run = await closedRun()
  const child = await holder(run)
  rmSync(run.paths.lease, { recursive: true })
  child.say('append late')
  expect(await child.line()).toBe('ERR_RUN_LOST')
  expect(readText(run.paths.journal)).not.toContain('late')
  child.say('close')
  expect(await child.line()).toBe('closed')
  expect(existsSync(run.paths.lease)).toBe(false)
})

test('the error of a writer whose lease was deleted says so, also when another was refused the run since', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  afterTest(run.close)
  rmSync(run.paths.lease, { recursive: true })
  mkdirSync(run.paths.lease)
  writeFileSync(join(run.paths.lease, '2'), '{}') // the second that was refused
  expect(() => run.fence()).toThrow(
    expect.objectContaining({
      message: `${run.directory}: The lease of this run (lease/1) was deleted, so another process may be writing it. Nothing more was written here.`,
      wayOut: 'take',
    }),
  )
})

test('a run whose lease files were deleted is refused, however often it is tried, until it is taken by force', async () => {
  const run = await closedRun()
  const second = await open(run)
  second.journal.append(...firstEvents({ runId: run.runId, epoch: 2 }).slice(0, 1))
  const before = readText(run.paths.journal)
  renameSync(run.paths.lease, join(run.directory, 'moved')) // its owner's lease is not deleted, so it cannot tell by that
  for (let time = 1; time <= 3; time += 1) {
    expect(await open(run).catch((error: Error) => error)).toMatchObject({
      code: 'ERR_RUN_BUSY',
      wayOut: 'take',
      message:
        `${run.directory}: Its lease files were deleted, so nothing tells whether its last owner still writes it.\n` +
        'Take the run if you know that it is gone.',
    })
    expect(readdirSync(run.paths.lease)).toEqual([])
  }
  expect(readText(run.paths.journal)).toBe(before)
  const taken = await open(run, { force: true })
  afterTest(taken.close)
  expect(taken.epoch).toBe(3)
  expect(() => second.journal.append({ type: 'USER_MESSAGE', content: 'late' })).toThrow('(lease 3)')
  taken.journal.append({ type: 'USER_MESSAGE', content: 'mine' })
  expect((await readJournal(run.paths.journal)).events.map((event) => event.seq)).toEqual([1, 2, 3, 4])
})

test('a lease whose content a power cut took counts by its heartbeat alone', async () => {
  const run = await closedRun()
  const path = join(run.paths.lease, '2')
  writeFileSync(path, '')
  await expect(open(run)).rejects.toThrow('the holder of lease 2 is writing this run')
  const longAgo = new Date(Date.now() - 31_000)
  utimesSync(path, longAgo, longAgo)
  const again = await open(run)
  expect(again.epoch).toBe(3)
  again.close()
})

/** A file that looks as if its writer had been killed before renaming it. */
function leftBeside(path: string, text = '{}', ageMs = 0): string {
  const left = path.endsWith('.tmp') ? path : `${path}.0123abcd.tmp`
  writeFileSync(left, text)
  const then = new Date(Date.now() - ageMs)
  utimesSync(left, then, then)
  return left
}

const TWO_DAYS_MS = 2 * 24 * 60 * 60 * 1000

test("what may be a living writer's stays: of an owner that cannot be seen, of those after the lease, of other runs", async () => {
  const run = await closedRun()
  putLease(run, { boot_id: 'another' }, 60_000)
  const delta = join(run.directory, '..')
  const candidate = (digit: string) => join(run.paths.lease, `.${digit.repeat(16)}.tmp`)
  const stay = [
    leftBeside(run.paths.metadata),
    leftBeside(join(delta, 'LATEST'), 'another\n'),
    leftBeside(join(delta, 'VERSION'), '1.9\n'),
    leftBeside(candidate('1')),
    leftBeside(join(run.directory, 'notes.tmp')),
  ]
  const go = [
    leftBeside(`${run.paths.parts}.89abcdef.tmp`, '', TWO_DAYS_MS),
    leftBeside(candidate('2'), '', TWO_DAYS_MS),
    leftBeside(join(delta, 'VERSION.89abcdef.tmp'), '', TWO_DAYS_MS),
  ]
  const again = await open(run)
  expect(again.notices).toMatchObject([expect.stringContaining('which cannot be seen from here')])
  again.close()
  expect(stay.filter(existsSync)).toEqual(stay)
  expect(go.filter(existsSync)).toEqual([])
})

test('what a killed owner left is looked for where a run replaces files, and behind no link', async () => {
  const run = await closedRun()
  const elsewhere = temporaryDirectory()
  symlinkSync(elsewhere, run.paths.secrets)
  mkdirSync(run.paths.interaction)
  const stays = leftBeside(join(elsewhere, 'one'))
  const go = [
    run.paths.journal,
    run.paths.parts,
    join(run.paths.invocations, '1.json'),
    join(run.paths.toolExecutions, '1.json'),
    join(run.paths.interaction, 'request.json'),
    join(run.paths.hooks, 'on_run_end_1.json'),
    join(run.paths.lease, '1'),
  ].map((path) => leftBeside(path))
  ;(await open(run)).close()
  expect(go.filter(existsSync)).toEqual([])
  expect(existsSync(stays)).toBe(true)
})
