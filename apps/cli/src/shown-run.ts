import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isJournalError, latestRunId, type RunSummary, readRun, runDirectory } from '@delta/journal'
import type { Terminal } from './terminal.js'
import { UsageError } from './usage-error.js'
import { workDirectoryOf } from './work-directory.js'

/**
 * The run that a command which only looks is about: the named one, or the workspace's latest. A damaged journal is no
 * reason to refuse; the summary's `problem` says so.
 */
export async function findShownRun(
  flags: { workDir: string },
  runId: string | undefined,
  terminal: Terminal,
): Promise<RunSummary & { journalPath: string }> {
  const workDirectory = workDirectoryOf(flags, terminal)
  const id = runId ?? (await latestRunId(workDirectory))
  if (id === undefined) throw new UsageError(`No runs in ${workDirectory}. -w names another workspace.`)
  try {
    const run = await readRun(runDirectory(workDirectory, id), { tolerant: true })
    return { ...run, journalPath: journalIn(run.directory) }
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_RUN_NOT_FOUND') throw error
    throw new UsageError(
      `No run ${id} in ${workDirectory}. There are others: delta list-runs -w ${flags.workDir}`,
    )
  }
}

/** The journal of a run of any layout: the first one kept it in `execution/`. */
function journalIn(directory: string): string {
  const old = join(directory, 'execution', 'journal.jsonl')
  const journal = join(directory, 'journal.jsonl')
  return !existsSync(journal) && existsSync(old) ? old : journal
}
