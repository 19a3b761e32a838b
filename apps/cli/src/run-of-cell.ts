import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { attemptOf, cellAt, cellReader, isEvaluation, nameOfCellAt, plannedIn } from '@delta/journal/internal'
import { counted } from './text.js'
import { UsageError } from './usage.js'

/**
 * The run directory of a cell, of its attempt that counts. Undefined for a path that names no cell.
 *
 * @param typed - The path as it was typed.
 * @throws {UsageError} The evaluation has no such cell, or the cell has no run.
 */
export function runOfCell(path: string, typed: string): string | undefined {
  const cell = cellAt(path)
  if (cell === undefined) {
    const evaluation = resolve(path, '../../..')
    if (!existsSync(path) && isEvaluation(evaluation))
      throw new UsageError(`There is no cell ${typed}. ${cellsThere(evaluation, resolve(typed, '../../..'))}`)
    return undefined
  }
  const { run } = attemptOf(cell)
  if (existsSync(run)) return run
  const { state = 'pending' } = cellReader()(run) ?? {}
  throw new UsageError(`${nameOfCellAt(cell) ?? typed} has no run: it is ${state}.`)
}

/** @throws {UsageError} The directory is an evaluation, whose runs have no latest. */
export function refuseEvaluation(directory: string, typed: string | undefined): void {
  if (!isEvaluation(directory)) return
  throw new UsageError(`${typed ?? directory} is an evaluation. ${cellsThere(directory, typed ?? directory)}`)
}

function cellsThere(evaluation: string, shownAs: string): string {
  const [first, ...others] = plannedIn(evaluation).values()
  if (first === undefined) return 'It has no cells.'
  const { variant, task, repeat } = first
  return `It has ${counted(others.length + 1, 'cell')}. Name one, such as ${shownAs}/${variant}/${task}/${repeat}.`
}
