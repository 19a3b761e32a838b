import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Lease } from './lease.js'
import { type Journal, openJournal } from './open.js'
import { readRun } from './read-run.js'
import { replaceFile, syncPath } from './replace.js'
import { type RunPaths, runPaths } from './run-paths.js'

/** A run that this process may write. */
export interface Run {
  readonly runId: string
  readonly directory: string
  readonly workDirectory: string
  /** Number of this owner; belongs into `ENGINE_START.engine.epoch`. */
  readonly epoch: number
  readonly journal: Journal
  readonly paths: RunPaths
  /** What the user should be told about opening it, one line each. */
  readonly notices: string[]
  /** Names a file or directory the journal will refer to: it is synced before the journal is. */
  syncLater(path: string): void
  /** Throws `ERR_RUN_LOST` when another process has taken the run. */
  fence(): void
  /** Derives `metadata.json` anew from the journal and renames it into place. */
  updateMetadata(): Promise<void>
  /** Syncs and closes the journal, then releases the lease. */
  close(): void
}

/** Opens the journal of a run whose lease this process has taken. */
export function holdRun(directory: string, lease: Lease, { sync = true }: { sync?: boolean }): Run {
  const paths = runPaths(directory)
  const unsynced = new Set<string>()

  function syncReferred(): void {
    for (const path of unsynced) if (existsSync(path)) syncPath(path)
    unsynced.clear()
  }

  const journal = openJournal(paths.journal, { sync, fence: lease.fence, syncFirst: syncReferred })

  async function updateMetadata(): Promise<void> {
    const { metadata } = await readRun(directory)
    replaceFile(paths.metadata, `${JSON.stringify(metadata, null, 2)}\n`, { durable: false })
  }

  function close(): void {
    try {
      journal.close()
    } finally {
      lease.release()
    }
  }

  return {
    runId: basename(directory),
    directory,
    workDirectory: dirname(dirname(directory)),
    epoch: lease.epoch,
    journal,
    paths,
    notices: notices(journal),
    syncLater: (path) => unsynced.add(path),
    fence: lease.fence,
    updateMetadata,
    close,
  }
}

function notices({ repaired, warnings }: Journal): string[] {
  const torn = repaired
    ? [
        `The journal's last ${repaired.tornBytes} bytes were torn by a crash; they are kept in ${repaired.keptIn}.`,
      ]
    : []
  return [...torn, ...warnings]
}

export function leaseDirectory(runDirectory: string): string {
  return join(runDirectory, 'lease')
}
