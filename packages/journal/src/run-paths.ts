import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { JournalError } from './errors.js'

/** Where the parts of a run lie, as absolute paths. */
export interface RunPaths {
  /** `journal.jsonl`: the truth. */
  journal: string
  /** `metadata.json`: a cache of it, see `RunMetadata`. */
  metadata: string
  /** A directory: the agent's files as each start found them, `<seq>/`, only when they had changed. */
  configuration: string
  /** `engine.log`: what was shown as progress. */
  engineLog: string
  /** A directory: one record for each request to the model. */
  invocations: string
  /** `parts.jsonl`: each message that was ever sent, once; the records name its lines. */
  parts: string
  /** A directory: a record of each command, and its output where that is large. */
  toolExecutions: string
  /** A directory: of each hook, what it was given and what it wrote. */
  hooks: string
  /** A directory, only while the run holds sensitive answers. */
  secrets: string
  /** A directory, only while the run waits for a person: the question, and where the answer goes. */
  interaction: string
  /** A directory: who writes the run. */
  lease: string
}

export function runPaths(directory: string): RunPaths {
  const io = join(directory, 'io')
  return {
    journal: join(directory, 'journal.jsonl'),
    metadata: join(directory, 'metadata.json'),
    configuration: join(directory, 'configuration'),
    engineLog: join(directory, 'engine.log'),
    invocations: join(io, 'invocations'),
    parts: join(io, 'parts.jsonl'),
    toolExecutions: join(io, 'tool_executions'),
    hooks: join(io, 'hooks'),
    secrets: join(directory, 'secrets'),
    interaction: join(directory, 'interaction'),
    lease: join(directory, 'lease'),
  }
}

/** The journal of a run of any layout: v1.1 kept it in `execution/`. */
export function journalPath(directory: string): string {
  const old = join(directory, 'execution', 'journal.jsonl')
  const { journal } = runPaths(directory)
  return !existsSync(journal) && existsSync(old) ? old : journal
}

/** Where the runs of a workspace are kept. */
export interface RunsPlace {
  /** Default: `.delta` in the workspace. Another directory may hold the runs of several workspaces. */
  runsDirectory?: string | undefined
}

/**
 * The directory of a run: `<workDirectory>/.delta/<runId>` or `<runsDirectory>/<runId>`; of a run that v1.1 made,
 * `.delta/runs/<runId>`.
 *
 * @throws {JournalError} `ERR_RUN_ID`: the id is not one plain file name.
 */
export function runDirectory(workDirectory: string, runId: string, place: RunsPlace = {}): string {
  const runs = runsDirectoryOf(workDirectory, place)
  const path = join(runs, runId)
  const old = join(runs, 'runs', runId)
  if (isRunId(runId)) return !existsSync(path) && existsSync(old) ? old : path
  throw new JournalError(
    'ERR_RUN_ID',
    `Run id ${JSON.stringify(runId)} cannot name a directory. Use letters, digits, ".", "_" and "-" (at most 128,\n` +
      'beginning with a letter or digit), and none of: VERSION, LATEST, runs, context_artifacts.',
    { path },
  )
}

export function runsDirectoryOf(workDirectory: string, { runsDirectory }: RunsPlace): string {
  return resolve(runsDirectory ?? join(workDirectory, DELTA_DIRECTORY))
}

/** The name of the directory that holds the runs in a workspace. */
export const DELTA_DIRECTORY = '.delta'

const RESERVED = new Set(['VERSION', 'LATEST', 'runs', 'context_artifacts'])

export function isRunId(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name) && !RESERVED.has(name)
}
