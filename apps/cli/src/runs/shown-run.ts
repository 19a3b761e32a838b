import { quoteForPerson } from '@delta/executor'
import {
  isJournalError,
  journalPath,
  latestRunId,
  type RunSummary,
  readRun,
  runDirectory,
} from '@delta/journal'
import type { Terminal } from '../terminal/terminal.js'
import { spokenName } from '../usage/spoken-name.js'
import { UsageError } from '../usage/usage-error.js'
import { existingWorkDirectoryOf } from '../workspace/work-directory.js'
import { otherWorkspace } from '../workspace/workspace-near.js'
import { resolveRunId } from './resolve-run-id.js'

/** A run to be looked at. */
export interface ShownRun extends RunSummary {
  journalPath: string
}

/**
 * The run for a command that only reads: the named one, or the workspace's latest. A damaged or empty journal is not refused;
 * the summary's `problem` and `status` tell of it.
 */
export async function findShownRun(
  flags: { workDir: string },
  runId: string | undefined,
  terminal: Terminal,
): Promise<ShownRun> {
  const workDirectory = existingWorkDirectoryOf(flags, terminal)
  const latest = await latestRunId(workDirectory, { orEmpty: true })
  if (latest === undefined) {
    const what = runId === undefined ? 'No runs' : `No run ${runId}`
    const others = runId === undefined ? '' : ' There are no others.'
    const command = ['show', ...(runId === undefined ? [] : [runId])]
    throw new UsageError(`${what} in ${workDirectory}.${others} ${otherWorkspace(command, flags, terminal)}`)
  }
  const id = runId === undefined ? latest : await resolveRunId(runId, { workDirectory, env: terminal.env })
  try {
    const run = await readRun(runDirectory(workDirectory, id), { tolerant: true })
    return { ...run, journalPath: journalPath(run.directory) }
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_RUN_NOT_FOUND') throw error
    const list = quoteForPerson([...spokenName(terminal.env), 'list-runs', '-w', workDirectory])
    throw new UsageError(`No run ${id} in ${workDirectory}. There are others: ${list}`)
  }
}
