/** What went wrong as a whole; the single problems say where. */
export type ConfigErrorCode =
  | 'ERR_CONFIG_INVALID' // a file was found, and something in it is wrong
  | 'ERR_CONFIG_NOT_FOUND' // no agent there
  | 'ERR_CONFIG_CONTEXT_MISSING' // everything is right, but there is no context.yaml
  | 'ERR_CONFIG_USAGE' // a function was called without what it needs
  | 'ERR_CONFIG_ENVIRONMENT' // an .env file says something that is not to be trusted

/** One thing that is wrong, and where. Lines and columns count from 1. */
export interface ConfigProblem {
  /**
   * The file, spelled as the caller spelled the agent's directory; empty for a `context.yaml` that is not there. Without a
   * line also `--set path=value`: what the option `overrides` says there.
   */
  file: string
  /** Absent when the problem is that of the whole file. */
  line?: number
  column?: number
  /** What is wrong, as a sentence without its place. */
  message: string
  /** The line at fault with a caret under the place, two lines of text. */
  excerpt?: string
  /** What to do about it. */
  hint?: string
  /** The option that allows it, for a person who trusts what is there; `value` is what to add to a list. */
  allowedBy?: { option: 'trustWorkspaceEnv' } | { option: 'importRoots'; value: string }
}

/** Something that works, but probably not as meant, or not for much longer. */
export interface ConfigWarning extends ConfigProblem {
  /** True if the message begins with `[DEPRECATION WARNING]`. */
  deprecated: boolean
}

/** A configuration that cannot be used. `message` is the whole report, ready to print; `problems` its parts. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code: ConfigErrorCode
  /** In the order of the report; empty where `message` says it all. */
  readonly problems: readonly ConfigProblem[]
  /** What was found besides, though it would not have stopped anything. */
  readonly warnings: readonly ConfigWarning[]

  constructor(
    code: ConfigErrorCode,
    message: string,
    options: {
      problems?: readonly ConfigProblem[]
      warnings?: readonly ConfigWarning[]
      cause?: unknown
    } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.problems = options.problems ?? []
    this.warnings = options.warnings ?? []
  }
}

/** True for a `ConfigError`, also for one that comes from another installed copy of this package. */
export function isConfigError(error: unknown): error is ConfigError {
  return error instanceof Error && error.name === 'ConfigError' && 'code' in error && 'problems' in error
}
