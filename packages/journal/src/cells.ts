import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { readHolder, readIfThere } from '@delta/durable'
import { namesIn } from '@delta/durable/internal'
import { isObject } from './event.js'

// A cell of an evaluation is a run: `<evaluation>/cells/<cell>/<attempt>/runs/<cell>-<attempt>`. What else lies there belongs to
// @delta/evals. Here is what a reader of runs has to know: where the run is, and where its cell stands. Another user, or a tool, may have
// written these files: what is not as expected counts as missing.

/** Where a run stands in an evaluation. */
export interface CellOfRun {
  /** The directory of the evaluation. */
  evaluation: string
  id: string
  variant: string
  task: string
  /** From 1. */
  repeat: number
  seed: number
  /** From 1. */
  attempt: number
  /** False for an earlier attempt, and for a cell that is planned no longer. */
  counts: boolean
  /** `scored`, `unscored-agent`, `unscored-infra`, `invalid`; `pending`, `running`, `lost`; of a run that does not count `earlier` or `left`. */
  state: string
  score: number | null
}

/** Where a cell lies. */
export interface CellPlace {
  /** The directory of the evaluation. */
  evaluation: string
  /** The directory of the cell. */
  directory: string
  id: string
}

/** The cell whose run has this directory, by its path alone; undefined for any other. */
export function cellPlaceOf(runDirectory: string): (CellPlace & { attempt: number }) | undefined {
  const run = resolve(runDirectory)
  const runs = dirname(run)
  const attempt = Number(basename(dirname(runs)))
  const place = placeOfCell(dirname(dirname(runs)))
  const isAttempt = Number.isInteger(attempt) && basename(runs) === 'runs'
  return isAttempt && place && basename(run) === `${place.id}-${attempt}` ? { ...place, attempt } : undefined
}

/** Undefined unless it lies in the `cells` of a directory. */
function placeOfCell(directory: string): CellPlace | undefined {
  const cells = dirname(directory)
  if (basename(cells) !== 'cells') return undefined
  return { evaluation: dirname(cells), directory, id: basename(directory) }
}

/** The cell that is named by its directory or as `<evaluation>/<variant>/<task>/<repeat>`; undefined for any other path. */
export function cellAt(path: string): CellPlace | undefined {
  const directory = resolve(path)
  const place = placeOfCell(directory)
  if (place !== undefined) return existsSync(join(directory, 'cell.json')) ? place : undefined
  const evaluation = dirname(dirname(dirname(directory)))
  if (!isEvaluation(evaluation)) return undefined
  const name = directory.slice(evaluation.length + 1)
  const found = [...plannedIn(evaluation).values()].find((cell) => nameOf(cell) === name)
  return found && placeOfCell(join(evaluation, 'cells', found.cell))
}

/** True for the directory of an evaluation. */
export function isEvaluation(directory: string): boolean {
  return ['plan.json', 'manifest.jsonl'].every((name) => existsSync(join(directory, name)))
}

/** The directories of the cells that lie in an evaluation, planned or not. */
export function cellsIn(evaluation: string): string[] {
  const cells = join(evaluation, 'cells')
  return namesIn(cells).map((name) => join(cells, name))
}

/** The attempt of a cell that counts: the one of its result, else the newest. */
export function attemptOf(cell: CellPlace): { workspace: string; runs: string; run: string } {
  const number = resultIn(cell)?.attempt ?? newestAttempt(cell)
  const directory = join(cell.directory, String(number))
  const runs = join(directory, 'runs')
  return { workspace: join(directory, 'workspace'), runs, run: join(runs, `${cell.id}-${number}`) }
}

function newestAttempt({ directory }: CellPlace): number {
  const numbers = namesIn(directory).filter((name) => /^[1-9]\d{0,8}$/.test(name))
  return Math.max(1, ...numbers.map(Number))
}

/** What `manifest.jsonl` says of a cell, or its `cell.json`, which is older. */
interface PlannedCell {
  cell: string
  variant: string
  task: string
  repeat: number
  seed: number
  score_hash?: unknown
}

/** The name of a cell of an evaluation, for messages: `variant/task/repeat`. Undefined if nothing says it. */
export function nameOfCellAt(place: CellPlace): string | undefined {
  const cell = aboutCell(place, plannedIn(place.evaluation))
  return cell && nameOf(cell)
}

/** What is planned for a cell, of which the evaluation's manifest decides: a variant may have got another name since the cell ran. */
function aboutCell(
  { directory, id }: CellPlace,
  planned: ReadonlyMap<string, PlannedCell>,
): PlannedCell | undefined {
  return planned.get(id) ?? asPlanned(jsonIn(join(directory, 'cell.json')))
}

/** The cells of the plan, by id. */
export function plannedIn(evaluation: string): Map<string, PlannedCell> {
  const text = bytesIn(join(evaluation, 'manifest.jsonl'))?.toString() ?? ''
  const cells = text.split('\n').flatMap((line) => asPlanned(parsed(line)) ?? [])
  return new Map(cells.map((cell) => [cell.cell, cell]))
}

function asPlanned(value: unknown): PlannedCell | undefined {
  if (!isObject(value)) return undefined
  const { cell, variant, task, repeat, seed } = value
  const isWhole =
    [cell, variant, task].every((each) => typeof each === 'string') && [repeat, seed].every(Number.isInteger)
  return isWhole && /^[\w-]+$/.test(String(cell)) ? (value as unknown as PlannedCell) : undefined
}

function nameOf({ variant, task, repeat }: PlannedCell): string {
  return `${variant}/${task}/${repeat}`
}

interface Result {
  attempt: number
  state: string
  score: number | null
  score_hash?: unknown
}

function resultIn({ directory }: CellPlace): Result | undefined {
  const value = jsonIn(join(directory, 'result.json'))
  if (!isObject(value)) return undefined
  const { attempt, state, score } = value
  if (!Number.isInteger(attempt) || Number(attempt) < 1 || typeof state !== 'string') return undefined
  return { ...value, attempt: Number(attempt), state, score: typeof score === 'number' ? score : null }
}

/** Where a cell stands that has no result which counts. `lost`: its worker died, and the next one goes on with it. */
export function standingOf(cellDirectory: string): 'pending' | 'running' | 'lost' {
  const state = readHolder(join(cellDirectory, 'lease'))?.state
  if (state === 'alive' || state === 'remote-fresh') return 'running'
  return state === 'dead' || state === 'remote-expired' ? 'lost' : 'pending'
}

/** Reads where runs stand in evaluations. A file is read again when it was replaced. */
export function cellReader(): (runDirectory: string) => CellOfRun | undefined {
  const manifests = new Map<string, Known<Map<string, PlannedCell>>>()
  const results = new Map<string, Known<Result | undefined>>()

  return (runDirectory) => {
    const place = cellPlaceOf(runDirectory)
    if (place === undefined) return undefined
    const { evaluation, directory, id, attempt } = place
    const planned = ifReplaced(manifests, join(evaluation, 'manifest.jsonl'), () => plannedIn(evaluation))
    const about = aboutCell(place, planned)
    if (about === undefined) return undefined
    const result = ifReplaced(results, join(directory, 'result.json'), () => resultIn(place))
    const isNewest = attempt === (result?.attempt ?? newestAttempt(place))
    const isPlanned = planned.has(id)
    const isCurrent = !isPlanned || result?.score_hash === about.score_hash // else another scorer is planned now
    const state = isCurrent && result ? result.state : standingOf(directory)
    const { variant, task, repeat, seed } = about
    return {
      evaluation,
      id,
      variant,
      task,
      repeat,
      seed,
      attempt,
      counts: isPlanned && isNewest,
      state: !isNewest ? 'earlier' : isPlanned ? state : 'left',
      score: isNewest && isCurrent ? (result?.score ?? null) : null,
    }
  }
}

interface Known<Value> {
  stamp: string
  value: Value
}

function ifReplaced<Value>(known: Map<string, Known<Value>>, path: string, read: () => Value): Value {
  const { ino, size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
  const stamp = `${ino} ${size} ${mtimeMs}`
  const before = known.get(path)
  if (before?.stamp === stamp) return before.value
  const value = read()
  known.set(path, { stamp, value })
  return value
}

const MOST_BYTES = 256 * 1024 * 1024

function bytesIn(path: string): Buffer | undefined {
  try {
    return readIfThere(path, { mostBytes: MOST_BYTES })
  } catch {
    return undefined // a directory, a pipe, or somebody else's
  }
}

function jsonIn(path: string): unknown {
  return parsed(bytesIn(path)?.toString() ?? '')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // a line that is empty or torn
  }
}
