import type { Problem } from '@delta/tool-expander'

/** `TOOL`: a definition that cannot be used, its author's mistake. `USAGE`: the calling program's. */
export type ExecutorErrorCode = 'ERR_EXECUTOR_TOOL' | 'ERR_EXECUTOR_USAGE'

/**
 * A mistake of the program or of the person who wrote the tool.
 *
 * Nothing a model sends and nothing a command does is thrown: those are results.
 * Branch on `code`; show `message` to people.
 */
export class ExecutorError extends Error {
  override readonly name = 'ExecutorError'
  readonly code: ExecutorErrorCode
  /** Every problem found, not only the first; empty when the message says it all. */
  readonly problems: readonly Problem[]

  constructor(code: ExecutorErrorCode, message: string, problems: readonly Problem[] = []) {
    super(message)
    this.code = code
    this.problems = problems
  }
}

/** True for an `ExecutorError`, also one of another installed copy of this package. */
export function isExecutorError(error: unknown): error is ExecutorError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_EXECUTOR_')
}
