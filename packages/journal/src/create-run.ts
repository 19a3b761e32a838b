import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, renameSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { asStartError, JournalError } from './errors.js'
import type { NewEvent } from './events.js'
import { replaceFile, syncName } from './files.js'
import { copyBeginning, type Inherited } from './inherit.js'
import { toLine } from './journal.js'
import {
  announceRun,
  checkLayout,
  makeRunDirectory,
  makeRunsDirectory,
  markLayout,
  ownerNotice,
} from './layout.js'
import { type Lease, takeLease } from './lease.js'
import { readRun } from './read-runs.js'
import { recordStamp } from './records.js'
import { holdRun, type Run } from './run.js'
import { runPaths } from './run-paths.js'
import { checkRunsDirectory, type RunsPlace, runDirectory } from './runs-directory.js'

/** What a new run is called and begins with. */
export interface CreateRunOptions extends RunsPlace {
  /** Default: `<date>_<time>_<six hex digits>`. */
  runId?: string | undefined
  /** False: nothing is synced, for throwaway runs. */
  sync?: boolean | undefined
  /** False: `LATEST` goes on naming the run it names; for a run that belongs to another one of this workspace. */
  latest?: boolean | undefined
  /** What a fork has in common with the run that it is made of. */
  inherited?: Inherited | undefined
  /**
   * The first events (ENGINE_START and USER_MESSAGE; of a fork, those behind the inherited ones), which make the directory a run.
   * What must be in it before it is one is to be there when they are.
   */
  events: (run: {
    runId: string
    directory: string
    epoch: number
  }) => readonly NewEvent[] | Promise<readonly NewEvent[]>
}

/**
 * Creates a run and takes its lease.
 *
 * The first events are one synced write, before `LATEST` names the run. A crash
 * before that write leaves a directory that is listed as empty and never resumed;
 * the same id can then be used again. A fork gets copies of the records first; then its journal is there whole, or not at all.
 *
 * @throws {JournalError} `ERR_RUN_EXISTS`, `ERR_RUN_BUSY`, `ERR_RUN_ID`, `ERR_RUNS_DIRECTORY`, `ERR_LAYOUT_NEWER`,
 *   `ERR_JOURNAL_WRITE`.
 */
export async function createRun(workDirectory: string, options: CreateRunOptions): Promise<Run> {
  const { runId = newRunId(), sync = true, latest = true, inherited, events } = options
  const runsDirectory = checkRunsDirectory(workDirectory, options)
  const directory = runDirectory(workDirectory, runId, { runsDirectory })
  let lease: Lease
  try {
    makeRunsDirectory(runsDirectory, { sync })
    checkLayout(runsDirectory)
    refusePrepared(directory)
    makeRunDirectory(directory)
    if (sync) for (const each of [runsDirectory, directory]) syncName(each) // also if its maker was killed at once
    lease = await takeLease(runPaths(directory).lease)
  } catch (error) {
    throw asStartError(error)
  }
  let run: Run | undefined
  let begun = false
  try {
    await setAsideStillborn(directory)
    const about = { runId, directory, epoch: lease.epoch }
    if (inherited) {
      if (hasBegun(directory)) throw exists(directory, runId)
      copyBeginning(inherited, directory, { sync })
      writeBeginning(inherited, directory, { events: await events(about), sync })
    }
    run = holdRun(directory, lease, { sync, workDirectory: resolve(workDirectory) })
    if (!inherited) {
      if (hasBegun(directory)) throw exists(directory, runId)
      run.journal.append(...(await events(about)))
    }
    run.journal.sync()
    begun = true
    if (latest) announceRun(runsDirectory, runId)
    else markLayout(runsDirectory)
    await run.updateMetadata()
    const notice = ownerNotice(runsDirectory)
    if (notice !== undefined) run.notices.push(notice)
    return run
  } catch (error) {
    if (run) run.close()
    else lease.release()
    throw begun ? error : asStartError(error)
  }
}

/** Its metadata is written after the first events are, which may be gone since. */
function hasBegun(directory: string): boolean {
  const { journal, metadata } = runPaths(directory)
  return existsSync(metadata) || (statSync(journal, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Writes the journal of a fork: a crash leaves none, or the whole. */
function writeBeginning(
  { events: { length }, seq, lines }: Inherited,
  directory: string,
  { events, sync }: { events: readonly NewEvent[]; sync: boolean },
): void {
  const { journal } = runPaths(directory)
  const timestamp = new Date().toISOString()
  const last = Math.max(seq, length)
  const own = events.map((event, index) => toLine({ seq: last + 1 + index, timestamp }, event, journal))
  replaceFile(journal, `${lines}${own.join('\n')}\n`, { sync })
}

/** `20261120_093000_a1b2c3`: sorts by start, in UTC. */
export function newRunId(time = new Date()): string {
  const stamp = time.toISOString().replace(/[-:]/g, '').replace('T', '_').slice(0, 15)
  return `${stamp}_${randomBytes(3).toString('hex')}`
}

/**
 * What a crash leaves is files and directories. Links and pipes were put there by somebody who knew the id: what is written
 * to `engine.log` would end up elsewhere.
 */
function refusePrepared(directory: string): void {
  if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) return
  const inside = readdirSync(directory, { withFileTypes: true, recursive: true })
  const odd = inside.find((entry) => !entry.isFile() && !entry.isDirectory())
  const path = odd ? join(odd.parentPath, odd.name) : directory
  if (odd === undefined && !lstatSync(directory).isSymbolicLink()) return
  throw new JournalError(
    'ERR_RUN_EXISTS',
    `${path}: It is a link or a pipe, and was there before the run. Remove ${directory}, or choose another id.`,
    { path },
  )
}

/** A power cut can leave half of the first write: a start without its message, which began nothing. */
async function setAsideStillborn(directory: string): Promise<void> {
  const { journal } = runPaths(directory)
  if (!existsSync(journal) || statSync(journal).size === 0) return
  const { status, problem } = await readRun(directory, { tolerant: true })
  if (status === 'EMPTY' && problem === undefined)
    renameSync(journal, join(directory, `journal.torn-${recordStamp(new Date())}`))
}

function exists(directory: string, runId: string): JournalError {
  return new JournalError(
    'ERR_RUN_EXISTS',
    `${directory}: A run with the id ${runId} exists. Choose another id.`,
    { path: directory, wayOut: 'show' },
  )
}
