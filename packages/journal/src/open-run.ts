import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { checkLayout } from './layout.js'
import { type Lease, takeLease } from './lease.js'
import { notFound } from './read-run.js'
import { holdRun, leaseDirectory, type Run } from './run.js'

export interface OpenRunOptions {
  /** Take the run even from a live owner: on this machine that one is ended first. */
  force?: boolean
  sync?: boolean
}

/**
 * Takes an existing run for writing: the lease first, then the journal, mended where a crash tore it.
 *
 * @throws {JournalError} `ERR_RUN_BUSY`: somebody else writes it, nothing was changed.
 *   `ERR_JOURNAL_CORRUPT`: damage no crash makes. `ERR_RUN_NOT_FOUND`, `ERR_LAYOUT_NEWER`, `ERR_JOURNAL_WRITE`.
 */
export async function openRun(
  runDirectory: string,
  { force = false, sync = true }: OpenRunOptions = {},
): Promise<Run> {
  const directory = resolve(runDirectory)
  if (!existsSync(directory)) throw notFound(directory)
  checkLayout(dirname(directory))
  const lease = await takeLease(leaseDirectory(directory), { force })
  try {
    const run = holdRun(directory, lease, { sync })
    run.notices.unshift(...takeoverNotices(lease))
    return run
  } catch (error) {
    lease.release()
    throw error
  }
}

function takeoverNotices({ takenFrom }: Lease): string[] {
  if (!takenFrom) return []
  const { record, epoch } = takenFrom.holder
  const who = record ? `process ${record.pid} on ${record.host}` : `the holder of lease ${epoch}`
  return [`The run was taken over from ${who}, which had not released it (${takenFrom.state}).`]
}
