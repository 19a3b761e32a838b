import type { Problem } from '@delta/tool-expander'

/** `TOOL`, `POLICY`: what a person wrote cannot be used. `USAGE`: a mistake of the calling program. */
export type ExecutorErrorCode = 'ERR_EXECUTOR_TOOL' | 'ERR_EXECUTOR_POLICY' | 'ERR_EXECUTOR_USAGE'

/**
 * A mistake of the program, or of the person who wrote a tool or a policy.
 *
 * What a model sends and what a command does is never thrown: it is a result.
 * Branch on `code`; show `message` to people.
 */
export class ExecutorError extends Error {
  override readonly name = 'ExecutorError'
  readonly code: ExecutorErrorCode
  /** Every problem of a tool or a policy; empty for `ERR_EXECUTOR_USAGE`. */
  readonly problems: readonly Problem[]

  constructor(code: ExecutorErrorCode, message: string, problems: readonly Problem[] = []) {
    super(message)
    this.code = code
    this.problems = problems
  }
}

/** A problem as a line of an error's message. */
export function lineOf({ path, message, hint }: Problem): string {
  return `${path && `${path}: `}${message}${hint === undefined ? '' : `. ${hint}`}`
}

/** True for an `ExecutorError`, also one of another installed copy of this package. */
export function isExecutorError(error: unknown): error is ExecutorError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_EXECUTOR_')
}
