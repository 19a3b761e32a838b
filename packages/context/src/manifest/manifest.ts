import type { Condition } from './schema.js'

export type { Condition } from './schema.js'

/** A command the context layer runs: a generator, or a token counter. */
export interface ContextCommand {
  /** The program and its arguments, their variables not yet replaced. */
  command: readonly string[]
  /** 0 for no limit; default 30000. */
  timeoutMs: number
  /** Names of engine credentials it may see. */
  passEnv: readonly string[]
}

interface CommonSource {
  /** Its name in the request and in messages. Default: its path as written, or `journal`. */
  id?: string
  /** Of a file its end is cut, of a conversation whole cycles are left out, the oldest first. */
  maxTokens?: number
  /** When it is sent; always without one. */
  condition?: Condition
}

/** A file as it is, under a header with its name. */
export interface FileSource extends CommonSource {
  type: 'file'
  /** As written, variables and all; relative to the agent's directory. */
  path: string
  /** Of a file that is not there: `skip` sends the request without it, `error` throws. Default `error`. */
  onMissing: 'skip' | 'error'
}

/** A file that a command writes anew for each request. */
export interface ComputedFileSource extends CommonSource {
  type: 'computed_file'
  /** Makes the file before each request. */
  generator: ContextCommand
  /** What it writes, and where what it prints goes if it writes nothing. As written; relative to the workspace. */
  outputPath: string
  /** When it fails or makes nothing: `skip` sends the request without it, `error` throws. Default `error`. */
  onMissing: 'skip' | 'error'
  /** Globs, relative to the work directory: the generator runs again only when a matching file changed. */
  cache?: { strategy: 'file_hash'; invalidateOn: readonly string[] }
}

/** The conversation, or its last iterations. */
export interface JournalSource extends CommonSource {
  type: 'journal'
  /** The newest cycles alone. Absent: all. */
  maxIterations?: number
}

/** One entry of `sources:` in `context.yaml`; its keys: `docs/reference/yaml.md`. */
export type ContextSource = FileSource | ComputedFileSource | JournalSource

/** `context.yaml`: what the model sees, in this order. */
export interface ContextManifest {
  /** At least one. */
  sources: readonly ContextSource[]
  /** For all messages; the journal gets what the other sources leave. Absent: no limit. */
  totalMaxTokens?: number
  /** Counts tokens exactly: reads one JSON string a line, prints one number a line. Without it they are estimated. */
  tokenCounter?: ContextCommand
}
