/** Branch on it; `message` is for people. */
export type EvaluationErrorCode =
  | 'ERR_EVAL_PLAN' // eval.yaml, or what it names, cannot be planned
  | 'ERR_EVAL_NOT_FOUND' // there is no evaluation in the directory, or no such cell in it
  | 'ERR_EVAL_NOT_YOURS' // another user, or another machine, made the evaluation
  | 'ERR_EVAL_CELL' // the cell cannot be run again
  | 'ERR_EVAL_STOPPED_BY' // no cell can go on: the disk is full, or a model has no key

/** An evaluation that cannot be planned, or cannot go on. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError'
  readonly code: EvaluationErrorCode

  constructor(code: EvaluationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** True for an `EvaluationError`, also for one from another installed copy of this package. */
export function isEvaluationError(error: unknown): error is EvaluationError {
  return error instanceof Error && error.name === 'EvaluationError' && 'code' in error
}
