import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  attemptOf,
  type CellPlace,
  cellAt,
  cellReader,
  cellsIn,
  isEvaluation,
  isOfRun,
  nothingIfDeleted,
  runDirectoriesOf,
} from '@delta/journal/internal'
import type { RunsOfPlace } from '@delta/journal/runs'
import type { PriceOptions } from './prices.js'
import { readTracedRun, type TracedRun } from './traced-run.js'

/** Where runs are looked for: a directory, or a workspace of which the caller knows where its runs are kept. */
export type RunsAt = string | (RunsOfPlace & { workDirectory: string })

/**
 * Every run of these directories, newest first. A directory may be a run, a workspace, a directory of runs, an evaluation, a cell of
 * one, or a tree of them. For a cell it finds the run of the attempt that counts, with the runs that its tools started. A damaged run has a
 * `problem`.
 *
 * @throws {JournalError} `ERR_JOURNAL_READ`: a directory cannot be read.
 * @example
 * for await (const { runId, totals } of findRuns(['bench'])) console.log(runId, totals.all.cost)
 */
export async function* findRuns(
  places: readonly RunsAt[],
  options: PriceOptions = {},
): AsyncGenerator<TracedRun> {
  const runs: TracedRun[] = []
  const cellOf = cellReader()
  for (const directory of new Set(places.flatMap((place) => runDirectoriesAt(place)))) {
    const run = await readTracedRun(directory, { ...options, cellOf }).catch(nothingIfDeleted)
    if (run) runs.push(run)
  }
  const beginning = ({ metadata, runId }: TracedRun) => `${metadata.created_at ?? ''} ${runId}`
  yield* runs.sort((one, other) => (beginning(one) < beginning(other) ? 1 : -1))
}

/**
 * The directory of each run at a place, in no order. Nothing of them is read.
 *
 * @param options.below - Also those below a workspace. Directories that cannot be read are left out.
 */
export function runDirectoriesAt(place: RunsAt, { below = false }: { below?: boolean } = {}): string[] {
  if (typeof place !== 'string') return runDirectoriesOf(place.workDirectory, place)
  const directory = resolve(place)
  const cell = cellAt(directory)
  if (cell !== undefined) return runDirectoriesOfCell(cell)
  if (isEvaluation(directory)) {
    const cells = cellsIn(directory).filter((path) => cellAt(path) !== undefined)
    return cells.flatMap((path) => (below ? readableAt(path) : runDirectoriesAt(path)))
  }
  const names = directoriesIn(directory)
  const isWorkspace = names.includes('.delta')
  if (isWorkspace && !below) return runDirectoriesOf(directory) // it also holds other directories
  if (!isWorkspace && isOfRun(directory)) return [directory]
  const every = { runsDirectory: directory, ofAnyWorkspace: true }
  const kept = runDirectoriesOf(directory, isWorkspace ? {} : every)
  const others = names.filter((name) => !name.startsWith('.') && name !== 'node_modules')
  const further = others.map((name) => join(directory, name)).filter((path) => !kept.includes(path))
  return [...kept, ...further.flatMap((path) => (below ? readableAt(path) : runDirectoriesAt(path)))]
}

/** Nothing else below a cell is looked at: workspaces hold anything. */
function runDirectoriesOfCell(cell: CellPlace): string[] {
  const { workspace, runs } = attemptOf(cell)
  return [
    ...runDirectoriesOf(workspace, { runsDirectory: runs, ofAnyWorkspace: true }),
    ...runDirectoriesOf(workspace),
  ]
}

function readableAt(path: string): string[] {
  try {
    return runDirectoriesAt(path, { below: true })
  } catch {
    return [] // it belongs to somebody else, or was deleted meanwhile
  }
}

function directoriesIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
}
