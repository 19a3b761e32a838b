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
  /** Its name in the request and in messages. Default: its path without a leading variable, or its type. */
  id?: string
  /** Of a file its end is cut, of a conversation whole cycles are left out, the oldest first. */
  maxTokens?: number
  /** When it is sent; always without one. */
  condition?: Condition
}

/** What stands above a text, with its name in place of `${id}`; false: nothing, true: `# Context Block: ${id}`. */
export type Header = boolean | string

interface BlockSource extends CommonSource {
  /** Default `system`. */
  role?: 'system' | 'developer' | 'user'
  /** Default: the manifest's. */
  header?: Header
}

/** A file as it is. */
export interface FileSource extends BlockSource {
  type: 'file'
  /** As written, variables and all; relative to the agent's directory. */
  path: string
  /** Of a file that is not there: `skip` sends the request without it, `error` throws. Default `error`. */
  onMissing: 'skip' | 'error'
}

/** A text that stands in `context.yaml` itself. */
export interface TextSource extends BlockSource {
  type: 'text'
  /** As written, variables and all; `\${CWD}` is sent as `${CWD}`. */
  text: string
}

/** A file that a command writes anew for each request. */
export interface ComputedFileSource extends BlockSource {
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
  /** A user message that stands where iterations were left out, their number in place of `${count}`. Absent: none. */
  dropped?: string | undefined
}

/** One entry of `sources:` in `context.yaml`; its keys: `docs/reference/yaml.md`. */
export type ContextSource = FileSource | TextSource | ComputedFileSource | JournalSource

/** `context.yaml`: what the model sees, in this order. */
export interface ContextManifest {
  /** At least one. */
  sources: readonly ContextSource[]
  /** For all sources without a header of their own. Default true. */
  header?: Header
  /** Neighbouring sources of one role become one message, with a blank line between two. Default false. */
  merge?: boolean
  /** For all messages; the journal gets what the other sources leave. Absent: no limit. */
  totalMaxTokens?: number
  /** Counts tokens exactly: reads one JSON string a line, prints one number a line. Without it they are estimated. */
  tokenCounter?: ContextCommand
}

/** The name of a source in messages, records and block headers: its id, else its path without a leading variable, else its type. */
export function sourceName(source: ContextSource): string {
  if (source.id !== undefined) return source.id
  switch (source.type) {
    case 'file':
      return withoutVariable(source.path)
    case 'computed_file':
      return withoutVariable(source.outputPath)
    default:
      return source.type
  }
}

function withoutVariable(path: string): string {
  return path.replace(/^\$\{\w+\}\//, '')
}
