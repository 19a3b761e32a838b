import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { takeLease } from './lease.js'
import { notFound } from './read-run.js'
import { type RepairResult, repairJournal } from './repair.js'
import { journalPath, runPaths } from './run-paths.js'

/**
 * Repairs the journal of a run, as its only writer.
 *
 * @param options.force - End a live owner on this machine first.
 * @throws {JournalError} `ERR_RUN_BUSY`: somebody writes it. `ERR_RUN_NOT_FOUND`.
 */
export async function repairRun(
  runDirectory: string,
  { force = false }: { force?: boolean } = {},
): Promise<RepairResult> {
  const directory = resolve(runDirectory)
  if (!existsSync(directory)) throw notFound(directory)
  const lease = await takeLease(runPaths(directory).lease, { force })
  try {
    return repairJournal(journalPath(directory))
  } finally {
    lease.release()
  }
}
