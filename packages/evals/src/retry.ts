import { mkdirSync } from 'node:fs'
import { retryOf } from '@delta/engine/internal'
import picomatch from 'picomatch'
import { moveToResults } from './cell.js'
import { type EvalCommands, evalCommands } from './commands.js'
import { EvaluationError } from './errors.js'
import { evalPaths } from './layout.js'
import { type CellStatus, results } from './status.js'
import { numbersIn } from './stored.js'
import type { Cell } from './types.js'

/** Which cells are to be run again. */
export interface Retrying {
  /** Names, as `variant/task/repeat`; none: every cell that is `unscored-infra`. */
  cells?: readonly string[] | undefined
  /** True starts them anew, in an empty workspace; `invalid` cells only go on so. */
  fresh?: boolean | undefined
}

/**
 * Makes cells pending again that have no score by no fault of the agent: a failed run goes on from where it stopped, and a broken
 * scorer runs again without the agent. `work` then does it.
 *
 * @returns The cells.
 * @throws {EvaluationError} `ERR_EVAL_CELL`: a named cell counts, or can only start anew. `ERR_EVAL_NOT_FOUND`: there is no such cell.
 */
export function retryCells(directory: string, { cells: names = [], fresh = false }: Retrying = {}): Cell[] {
  const all = results(directory)
  const chosen =
    names.length > 0
      ? names.map((name) => named(name, all))
      : all.filter(({ standing }) => standing === 'unscored-infra')
  const commands = evalCommands(directory)
  for (const each of chosen) refuseCounting(each, { fresh, commands })
  for (const { cell } of chosen) {
    const paths = evalPaths(directory).cell(cell.cell)
    if (fresh)
      mkdirSync(paths.attempt((numbersIn(paths.directory).at(-1) ?? 1) + 1).directory, { mode: 0o700 })
    moveToResults(paths)
  }
  return chosen.map(({ cell }) => cell)
}

/** `variant/task/repeat`, as people name a cell. */
export function nameOfCell({ variant, task, repeat }: Cell): string {
  return `${variant}/${task}/${repeat}`
}

/** Whether a cell's name matches a glob, such as `luna/bowling/?`. */
export function cellFilter(glob: string): (cell: Cell) => boolean {
  const matches = picomatch(glob)
  return (cell) => matches(nameOfCell(cell))
}

function named(name: string, all: readonly CellStatus[]): CellStatus {
  const found = all.find(({ cell }) => nameOfCell(cell) === name || cell.cell === name)
  if (found !== undefined) return found
  throw new EvaluationError(
    'ERR_EVAL_NOT_FOUND',
    `There is no cell ${name}. A cell is named variant/task/repeat.`,
  )
}

function refuseCounting(
  { cell, standing, result }: CellStatus,
  { fresh, commands }: { fresh: boolean; commands: EvalCommands },
): void {
  const name = nameOfCell(cell)
  if (result === undefined)
    throw new EvaluationError('ERR_EVAL_CELL', `${name} is ${standing}: ${commands.run} goes on with it.`)
  if (standing === 'scored' || standing === 'unscored-agent')
    throw new EvaluationError(
      'ERR_EVAL_CELL',
      `${name} is ${standing}${result.score === null ? '' : ` (${result.score})`}. A scored cell is never run again; raise repeats for more samples.`,
    )
  const { reason, run } = result
  const canGoOn =
    run === null || run.reason_code !== reason || run.status !== 'FAILED' || retryOf(reason) !== undefined
  if (!fresh && (standing === 'invalid' || !canGoOn))
    throw new EvaluationError(
      'ERR_EVAL_CELL',
      `${name} (${reason}) cannot go on from where it stopped. Start it anew: ${commands.retry} --fresh ${name}`,
    )
}
