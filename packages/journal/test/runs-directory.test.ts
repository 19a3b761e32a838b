import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { firstEvents, temporaryDirectory } from './helpers.js'
import {
  checkRunsDirectory,
  createRun,
  isRunOf,
  latestRunId,
  listRuns,
  openRun,
  readRun,
  runDirectory,
  workDirectoryOf,
} from './of-runs.js'

/** A run of a workspace whose runs are kept elsewhere; it is closed. */
async function runIn(work: string, runsDirectory: string | undefined, runId: string): Promise<string> {
  const run = await createRun(work, {
    runId,
    runsDirectory,
    events: (about) => {
      const [start, message] = firstEvents(about)
      if (start === undefined || message === undefined) throw new Error('there are two')
      return [{ ...start, ...(start.type === 'ENGINE_START' && { work_dir: work }) }, message]
    },
  })
  run.close()
  return run.directory
}

test('a writer of a run leaves a .gitignore in .delta, and does not replace one that is there', async () => {
  const work = temporaryDirectory()
  const ignore = join(work, '.delta/.gitignore')
  const directory = await runIn(work, undefined, 'one')
  expect(readFileSync(ignore, 'utf8')).toBe('*\n')
  expect(statSync(ignore).mode & 0o777).toBe(0o600)
  rmSync(ignore)
  ;(await openRun(directory)).close()
  expect(readFileSync(ignore, 'utf8')).toBe('*\n')
  writeFileSync(ignore, '')
  await runIn(work, undefined, 'two')
  expect(readFileSync(ignore, 'utf8')).toBe('')
})

test('the runs of a workspace can be kept in another directory, which is created with those above it', async () => {
  const [work, elsewhere] = [temporaryDirectory(), temporaryDirectory()]
  const runsDirectory = join(elsewhere, 'a/runs')
  const place = { runsDirectory }
  const directory = await runIn(work, runsDirectory, 'one')
  expect(directory).toBe(join(runsDirectory, 'one'))
  expect(readdirSync(work)).toEqual([])
  expect(readdirSync(runsDirectory).sort()).toEqual(['.gitignore', 'LATEST', 'VERSION', 'one'])
  expect(statSync(runsDirectory).mode & 0o777).toBe(0o700)

  expect(runDirectory(work, 'one', place)).toBe(directory)
  expect(workDirectoryOf(directory)).toBe(work)
  expect(await latestRunId(work, place)).toBe('one')
  expect(await listRuns(work, place)).toMatchObject([{ runId: 'one', directory }])
  const run = await openRun(directory)
  expect(run).toMatchObject({ workDirectory: work, runsDirectory })
  run.close()
})

test('a directory for runs that is there gets no .gitignore: it may be in a repository of its own', async () => {
  const [work, runsDirectory] = [temporaryDirectory(), temporaryDirectory()]
  await runIn(work, runsDirectory, 'one')
  expect(existsSync(join(runsDirectory, '.gitignore'))).toBe(false)
})

test('workspaces that keep their runs in one directory each see their own, and their own latest', async () => {
  const [first, second, runsDirectory] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()]
  await runIn(first, runsDirectory, 'one')
  await runIn(second, runsDirectory, 'two')
  expect(readFileSync(join(runsDirectory, 'LATEST'), 'utf8')).toBe('two\n')
  const seen = async (work: string, ofAnyWorkspace?: boolean) => {
    const place = { runsDirectory, ofAnyWorkspace }
    return [await latestRunId(work, place), (await listRuns(work, place)).map(({ runId }) => runId)]
  }
  expect(await seen(first)).toEqual(['one', ['one']])
  expect(await seen(second)).toEqual(['two', ['two']])
  expect(await seen(first, true)).toEqual(['two', ['one', 'two']])
  expect(isRunOf(first, join(runsDirectory, 'two'))).toBe(false)
})

test('without a run that LATEST names, the newest run is the latest', async () => {
  const work = temporaryDirectory()
  await runIn(work, undefined, 'one')
  const latest = await runIn(work, undefined, 'two')
  rmSync(latest, { recursive: true })
  expect(await latestRunId(work)).toBe('one')
  writeFileSync(join(work, '.delta/LATEST'), 'two')
  expect(await latestRunId(work)).toBe('one')
  rmSync(join(work, '.delta/LATEST'))
  symlinkSync('nowhere', join(work, '.delta/LATEST'))
  expect(await latestRunId(work)).toBe('one')
})

test('a directory in the place of LATEST keeps no run from beginning: the newest is the latest', async () => {
  const work = temporaryDirectory()
  mkdirSync(join(work, '.delta/LATEST'), { recursive: true })
  for (const runId of ['one', 'two']) await runIn(work, undefined, runId)
  expect(await latestRunId(work)).toBe('two')
})

test('whatever is in the place of VERSION but a version is refused by its name, and nothing of it is read or shown', async () => {
  const work = temporaryDirectory()
  const run = await runIn(work, undefined, 'one')
  const path = join(work, '.delta/VERSION')
  writeFileSync(join(work, 'secret'), 'secret')
  for (const put of [
    () => symlinkSync('../secret', path),
    () => mkdirSync(path),
    () => writeFileSync(path, 'secret'),
    () => {
      writeFileSync(path, '1')
      truncateSync(path, 2 ** 33)
    },
  ]) {
    rmSync(path, { recursive: true, force: true })
    put()
    for (const begins of [runIn(work, undefined, 'two'), openRun(run)])
      await expect(begins).rejects.toMatchObject({
        code: 'ERR_RUNS_DIRECTORY',
        message: `${path}: It is not a file with the version of the layout, such as 1.10.\nRemove it: it is written again.`,
      })
  }
  rmSync(path)
  await runIn(work, undefined, 'two')
  expect(readFileSync(path, 'utf8')).toBe('1.10\n')
})

test.runIf(process.geteuid?.() === 0)('a run in the .delta of another user says so', async () => {
  const work = temporaryDirectory()
  const run = await createRun(work, { events: firstEvents })
  run.close()
  expect(run.notices).toEqual([])
  const runs = join(work, '.delta')
  chownSync(runs, 12345, 12345)
  const begun = await createRun(work, { events: firstEvents })
  const opened = await openRun(run.directory)
  for (const { notices, close } of [begun, opened]) {
    close()
    expect(notices).toEqual([
      `${runs}: It belongs to another user (12345), who can remove or replace the runs in it. To keep them elsewhere, name another runs directory.`,
    ])
  }
})

test('a workspace that was moved with its .delta is the one that its runs belong to', async () => {
  const work = temporaryDirectory()
  const directory = await runIn(work, undefined, 'one')
  const moved = join(temporaryDirectory(), 'moved')
  renameSync(work, moved)
  mkdirSync(work)
  expect(workDirectoryOf(join(moved, '.delta', basename(directory)))).toBe(moved)
})

test('what a person allowed at the last start that says so is in the summary of the run', async () => {
  const work = temporaryDirectory()
  const allowed = { import_roots: ['/common'], workspace_env_digest: '0a', runs_dir: '/runs' }
  const run = await createRun(work, {
    events: (about) =>
      firstEvents(about).map((event) => (event.type === 'ENGINE_START' ? { ...event, allowed } : event)),
  })
  const again = { type: 'ENGINE_START', run_id: run.runId, resumed: true } as const
  run.journal.append(again)
  expect(run.summary().allowed).toEqual(allowed)
  run.journal.append({ ...again, allowed: { runs_dir: '/other' } })
  run.close()
  expect((await readRun(run.directory)).allowed).toEqual({ runs_dir: '/other' })
})

test('a directory in the workspace, above it or in the .delta of another one is refused for runs, also behind a link', () => {
  const [work, elsewhere] = [temporaryDirectory(), temporaryDirectory()]
  mkdirSync(join(work, 'sub'))
  symlinkSync(join(work, 'sub'), join(elsewhere, 'in'))
  symlinkSync(elsewhere, join(work, 'out'))
  const check = (runsDirectory: string) => checkRunsDirectory(work, { runsDirectory })
  expect(() => check(join(elsewhere, 'in/runs'))).toThrow('lies in the workspace')
  expect(check(join(work, 'out/runs'))).toBe(join(elsewhere, 'runs'))
  expect(check(join(work, '.delta'))).toBe(join(work, '.delta'))
  expect(() => check(dirname(work))).toThrow('holds the workspace')
  expect(() => check(join(elsewhere, '.delta/runs'))).toThrow(
    'is the .delta of another workspace, or lies in it.',
  )
})

test('a file, and a directory of another user, are refused as a directory for runs', () => {
  const [work, other] = [temporaryDirectory(), temporaryDirectory()]
  const file = join(other, 'file')
  writeFileSync(file, '')
  const check = (runsDirectory: string) => () => checkRunsDirectory(work, { runsDirectory })
  expect(check(file)).toThrow(
    `${file}: The runs directory is a file, not a directory.\nName a directory; it is created if it is missing.`,
  )
  const foreign = process.geteuid?.() === 0 ? other : '/usr'
  if (foreign === other) chownSync(other, 12345, 12345)
  const { uid } = statSync(foreign)
  expect(check(foreign)).toThrow(
    `belongs to another user (${uid}), who could change the runs.\nName a directory`,
  )
})
