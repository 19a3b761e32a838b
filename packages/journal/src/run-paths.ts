import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where the parts of a run lie, as absolute paths. */
export interface RunPaths {
  /** `journal.jsonl`: the truth. */
  journal: string
  /** `metadata.json`: a cache of it, see `RunMetadata`. */
  metadata: string
  /** A directory: the agent's files as each start found them, `<seq>/`, only when they had changed. */
  configuration: string
  /** A directory: one record for each request to the model. */
  invocations: string
  /** `parts.jsonl`: each message that was ever sent, once; the records name its lines. */
  parts: string
  /** A directory: the bytes of each image and file in a message, by their SHA-256. */
  blobs: string
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

/** Where the parts of a run in today's layout lie, there or not. */
export function runPaths(directory: string): RunPaths {
  const io = join(directory, 'io')
  return {
    journal: join(directory, 'journal.jsonl'),
    metadata: join(directory, 'metadata.json'),
    configuration: join(directory, 'configuration'),
    invocations: join(io, 'invocations'),
    parts: join(io, 'parts.jsonl'),
    blobs: join(io, 'blobs'),
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
