import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readRun } from './read-run.js'
import { deltaDirectory, isRunId, runDirectory } from './run-paths.js'
import type { RunSummary } from './run-summary.js'
import { checkPath } from './usage.js'

/**
 * Every run of a workspace, of today's layout and of v1.1's, oldest first. A workspace without `.delta` has none.
 * A run whose journal is damaged or cannot be read is listed too, with what its whole lines say and a `problem`.
 */
export async function listRuns(workDirectory: string): Promise<RunSummary[]> {
  checkPath('listRuns', 'the workspace', workDirectory)
  const today = deltaDirectory(workDirectory)
  const names = new Set([...runNames(today), ...runNames(join(today, 'runs'))])
  const runs: RunSummary[] = []
  for (const name of names) runs.push(await readRun(runDirectory(workDirectory, name), { tolerant: true }))
  return runs.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

function sortKey({ metadata, runId }: RunSummary): string {
  return `${metadata.created_at ?? ''} ${runId}`
}

function runNames(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() && isRunId(entry.name)).map((entry) => entry.name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
