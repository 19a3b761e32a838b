import type { Condition } from './schema.js'

export type { Condition } from './schema.js'

/** A command the context layer runs: a generator, or a token counter. */
export interface ContextCommand {
  command: readonly string[]
  /** 0 for no limit. */
  timeoutMs: number
  /** Names of engine credentials it may see. */
  passEnv: readonly string[]
}

interface CommonSource {
  id?: string
  maxTokens?: number
  condition?: Condition
}

/** A file as it is, under a header with its name. */
export interface FileSource extends CommonSource {
  type: 'file'
  path: string
  onMissing: 'skip' | 'error'
}

/** A file that a command writes anew for each request. */
export interface ComputedFileSource extends CommonSource {
  type: 'computed_file'
  generator: ContextCommand
  outputPath: string
  onMissing: 'skip' | 'error'
  /** Globs, relative to the work directory: the generator runs again only when a matching file changed. */
  cache?: { strategy: 'file_hash'; invalidateOn: readonly string[] }
}

/** The conversation, or its last iterations. */
export interface JournalSource extends CommonSource {
  type: 'journal'
  maxIterations?: number
}

export type ContextSource = FileSource | ComputedFileSource | JournalSource

/** `context.yaml`: what the model sees, in this order. */
export interface ContextManifest {
  sources: readonly ContextSource[]
  totalMaxTokens?: number
  /** Counts tokens exactly: text on stdin, a number on stdout. Without it they are estimated. */
  tokenCounter?: ContextCommand
}
