import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type BlobStore, openBlobs } from './blobs.js'
import { asReadError, JournalError } from './errors.js'
import type { JournalEvent, StoredEvent } from './events.js'
import { replaceFile } from './files.js'
import { foldRun, type RunHistory, type RunSummary } from './fold.js'
import { type Journal, openJournal } from './journal.js'
import type { Lease } from './lease.js'
import { runEventSchema } from './old-formats.js'
import { readJournal } from './read.js'
import { type CommandRecord, recordCommand } from './records.js'
import { openRequestLog, type RequestLog } from './requests.js'
import { type RunPaths, runPaths } from './run-paths.js'
import { DELTA_DIRECTORY } from './runs-directory.js'
import { workDirectoryOf } from './work-directory.js'

/** A run that this process may write. */
export interface Run {
  /** The name of its directory. */
  readonly runId: string
  /** `<workspace>/.delta/<run_id>` or `<runs directory>/<run_id>`; of an old layout, where it was converted to. */
  readonly directory: string
  /** The workspace. */
  readonly workDirectory: string
  /** Set when the runs of the workspace are kept outside it: the directory above `directory`. */
  readonly runsDirectory: string | undefined
  /** Number of this owner; belongs into `ENGINE_START.engine.epoch`. */
  readonly epoch: number
  /** Append here, within the lease: what `fence` throws, `append` throws. */
  readonly journal: Journal<JournalEvent>
  readonly paths: RunPaths
  /** Notices for the user about opening it, one line each. */
  readonly notices: string[]
  /** Records what is sent to the model. */
  readonly requests: RequestLog
  /**
   * Creates the record of a command that is about to start.
   *
   * @param name - The tool's; it becomes a part of the record's name.
   * @param about - What the record holds until the command has ended.
   * @throws {JournalError} `ERR_JOURNAL_WRITE`, `ERR_RUN_LOST`, `ERR_JOURNAL_CLOSED`.
   */
  recordCommand(name: string, about: object): CommandRecord
  /** Keeps the images and files of its messages. */
  readonly blobs: BlobStore
  /** What `readRun` would say now, without reading: costs nothing at any length. */
  summary(): RunSummary
  /** What the next request and the next call need of all events so far. */
  readonly history: RunHistory
  /** How long engines have worked on the run until now: without waiting for people, in a queue, or before another attempt. Milliseconds. */
  workedMs(): number
  /**
   * All events so far, oldest first, in a list to which appending adds. After somebody edited the file (its size is not the
   * one that this process left), another list, read again.
   *
   * @throws {JournalError} `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
   */
  events(): Promise<readonly StoredEvent[]>
  /** @throws {JournalError} `ERR_RUN_LOST` when another process has taken the run. */
  fence(): void
  /**
   * Renames a `metadata.json` derived from the journal into place.
   *
   * @throws {JournalError} `ERR_JOURNAL_CLOSED`, `ERR_RUN_LOST`, `ERR_JOURNAL_WRITE`.
   */
  updateMetadata(): Promise<void>
  /** Syncs and closes the journal, then releases the lease. */
  close(): void
}

/** A run as it was opened. */
export interface HeldRun extends Run {
  /** The highest number of an owner that opening found in the journal. */
  readonly lastEpoch: number
}

/**
 * Opens the journal of a run whose lease this process has taken.
 *
 * @param options.workDirectory - Default: as `workDirectoryOf` says it.
 */
export function holdRun(
  directory: string,
  lease: Lease,
  { sync = true, ...given }: { sync?: boolean; workDirectory?: string | undefined },
): HeldRun {
  const paths = runPaths(directory)
  const above = dirname(directory)
  const workDirectory = given.workDirectory ?? workDirectoryOf(directory) ?? dirname(above)
  const fold = foldRun()
  let events: StoredEvent[] = []
  let foreignBytes = 0

  let isClosed = false
  /** Beside the journal, which refuses by itself: once the lease is released, another process may be writing. */
  function mayWrite(): void {
    if (isClosed) {
      const message = 'The run is closed; open it again to write.'
      throw new JournalError('ERR_JOURNAL_CLOSED', message, { path: paths.journal })
    }
    lease.fence()
  }

  const requests = openRequestLog({
    directory,
    sync,
    fence: mayWrite,
    onNotice: (notice) => notices.push(notice),
  })
  const journal = openJournal<StoredEvent>(paths.journal, {
    schema: runEventSchema,
    sync,
    fence: lease.fence,
    syncFirst: requests.sync,
    onEvent: (event) => {
      fold.add(event)
      events.push(event)
    },
  })
  const notices = openingNotices(journal)

  function summary(): RunSummary {
    return fold.summary(directory, { ...lease.owner, alive: true })
  }

  async function eventsNow(): Promise<readonly StoredEvent[]> {
    const size = sizeOf(paths.journal)
    if (size - journal.size !== foreignBytes) {
      events = (await readJournal(paths.journal, { schema: runEventSchema })).events
      foreignBytes = size - journal.size
    }
    return events
  }

  async function updateMetadata(): Promise<void> {
    mayWrite()
    replaceFile(paths.metadata, `${JSON.stringify(summary().metadata, null, 2)}\n`, { sync: false })
  }

  function close(): void {
    try {
      journal.close()
    } finally {
      isClosed = true
      try {
        requests.close()
      } finally {
        lease.release() // whatever failed: a lease that is kept shuts the run to this process for good
      }
    }
  }

  return {
    runId: basename(directory),
    directory,
    workDirectory,
    runsDirectory: above === join(workDirectory, DELTA_DIRECTORY) ? undefined : above,
    epoch: lease.epoch,
    lastEpoch: fold.lastEpoch,
    journal: journal as unknown as Journal<JournalEvent>, // what is appended is of a known type
    history: fold.history,
    workedMs: () => fold.workedMs(Date.now()),
    paths,
    notices,
    requests,
    recordCommand: (name, about) => recordCommand(paths, { name, about, fence: mayWrite }),
    blobs: openBlobs(directory, { sync, fence: mayWrite }),
    summary,
    events: eventsNow,
    fence: lease.fence,
    updateMetadata,
    close,
  }
}

/** 0 for a file that is gone. @throws {JournalError} `ERR_JOURNAL_READ`. */
function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0
  } catch (error) {
    throw asReadError(error, path)
  }
}

function openingNotices({ repaired, warnings }: Journal<StoredEvent>): string[] {
  if (!repaired) return [...warnings]
  const { tornBytes, keptIn } = repaired
  return [
    `The last ${tornBytes} bytes of the journal were torn by a crash; they are kept in ${keptIn}.`,
    ...warnings,
  ]
}
