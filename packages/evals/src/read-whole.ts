import { evalCommands } from './commands.js'
import { EvaluationError } from './errors.js'
import { evalPaths } from './layout.js'
import { readPlanned } from './stored.js'
import type { Cell, Plan } from './types.js'

/**
 * Both of one planning, which must be there. Waits a second for one that is replacing them.
 *
 * @throws {EvaluationError} `ERR_EVAL_PLAN`: they do not belong together. `ERR_EVAL_NOT_FOUND`.
 */
export function readWhole(directory: string): { plan: Plan; cells: Cell[] } {
  const began = performance.now()
  for (;;) {
    const planned = readPlanned(directory)
    if (planned !== undefined) return planned
    if (performance.now() - began > REPLACED_MS) throw notOfPlan(directory)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  }
}

/** Replacing two files takes less. */
const REPLACED_MS = 1000

/** What is told of a manifest that is not the plan's. */
export function notOfPlan(directory: string): EvaluationError {
  return new EvaluationError(
    'ERR_EVAL_PLAN',
    `${evalPaths(directory).manifest}: it is not the list of cells that was planned: planning was interrupted, or the file was changed. Plan it again: ${evalCommands(directory).run}`,
  )
}
