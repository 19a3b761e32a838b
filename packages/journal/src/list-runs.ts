import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunSummary, readRun } from './read-run.js'
import { deltaDirectory, isRunId } from './run-paths.js'

/** Every run of a workspace, oldest first. A workspace without `.delta` has none. */
export async function listRuns(workDirectory: string): Promise<RunSummary[]> {
  const directory = deltaDirectory(workDirectory)
  const names = (await directoriesIn(directory)).filter(isRunId)
  const runs = await Promise.all(names.map((name) => readRun(join(directory, name))))
  return runs.sort((a, b) => order(a).localeCompare(order(b)))
}

function order({ metadata, runId }: RunSummary): string {
  return `${metadata.created_at ?? ''} ${runId}`
}

async function directoriesIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
