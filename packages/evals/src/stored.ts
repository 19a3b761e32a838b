import { randomBytes } from 'node:crypto'
import { linkSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { createFile, readIfThere, syncName } from '@delta/durable'
import { namesIn, removeFile } from '@delta/durable/internal'
import { EvaluationError } from './errors.js'
import { sha256 } from './hash.js'
import { type CellPaths, evalPaths } from './layout.js'
import type { Cell, CellResult, Plan } from './types.js'

/**
 * The plan of an evaluation that must be there.
 *
 * @throws {EvaluationError} `ERR_EVAL_NOT_FOUND`.
 */
export function readPlan(directory: string): Plan {
  const plan = planOf(directory)
  if (plan !== undefined) return plan
  throw new EvaluationError(
    'ERR_EVAL_NOT_FOUND',
    `${directory}: it is not the directory of an evaluation. Start one: delta eval run`,
  )
}

/** The plan of an evaluation; undefined if none is there. */
export function planOf(directory: string): Plan | undefined {
  const text = readIfThere(evalPaths(directory).plan)
  return text === undefined ? undefined : (JSON.parse(text.toString()) as Plan)
}

/** True if eval.yaml is there and is not what was planned. */
export function hasSourceChanged(directory: string): boolean {
  const plan = planOf(directory)
  const text = plan && readIfThere(resolve(directory, plan.source))
  return text !== undefined && plan?.source_hash !== undefined && sha256(text.toString()) !== plan.source_hash
}

/** The cells of the plan, in the order of work. */
export function readManifest(directory: string): Cell[] {
  return cellsOf(textOfManifest(directory))
}

/** Both of one planning; undefined while another one replaces them. */
export function readPlanned(directory: string): { plan: Plan; cells: Cell[] } | undefined {
  const plan = readPlan(directory)
  const text = textOfManifest(directory)
  const isWhole = plan.manifest === undefined || plan.manifest === sha256(text)
  return isWhole ? { plan, cells: cellsOf(text) } : undefined
}

function textOfManifest(directory: string): string {
  return readIfThere(evalPaths(directory).manifest)?.toString() ?? ''
}

function cellsOf(text: string): Cell[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Cell)
}

/** What counts of a cell; undefined while it has no result. What is not a result of ours counts as none. */
export function readResult(cell: CellPaths): CellResult | undefined {
  return resultIn(cell.result, cell)
}

/** Earlier results, oldest first. */
export function readEarlierResults(cell: CellPaths): CellResult[] {
  return numbersIn(cell.results, { after: '.json' }).flatMap(
    (number) => resultIn(join(cell.results, `${number}.json`), cell) ?? [],
  )
}

const MOST_BYTES = 4 * 1024 * 1024

function resultIn(path: string, { directory }: CellPaths): CellResult | undefined {
  const bytes = readIfThere(path, { mostBytes: MOST_BYTES })
  if (bytes === undefined) return undefined
  try {
    const result = JSON.parse(bytes.toString()) as CellResult
    return isResult(result) && result.cell === basename(directory) ? result : undefined
  } catch {
    return undefined
  }
}

/** An agent can write the file; what workers need is there, or they would fail. */
function isResult({ version, state, epoch, limits, ms }: CellResult): boolean {
  const isWhole = [limits, ms].every((each) => typeof each === 'object' && each !== null)
  return version === 1 && typeof state === 'string' && Number.isSafeInteger(epoch) && isWhole
}

/**
 * Gives a cell its result. A reader sees it whole or not at all, and it replaces none.
 *
 * @returns False if there is one.
 */
export function linkResult(cell: CellPaths, result: CellResult): boolean {
  const beside = join(cell.directory, `.${randomBytes(8).toString('hex')}.tmp`)
  try {
    createFile(beside, `${JSON.stringify(result)}\n`)
    linkSync(beside, cell.result)
    syncName(cell.result)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    removeFile(beside)
  }
}

/** The numbers in names of a directory, between what stands before and after them; ascending. */
export function numbersIn(directory: string, { before = '', after = '' } = {}): number[] {
  return namesIn(directory)
    .filter((name) => name.startsWith(before) && name.endsWith(after))
    .map((name) => name.slice(before.length, name.length - after.length))
    .filter((text) => /^[1-9]\d*$/.test(text))
    .map(Number)
    .sort((one, other) => one - other)
}

/** The cells that lie there, planned or not. */
export function cellsIn(directory: string): string[] {
  try {
    return readdirSync(evalPaths(directory).cells)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
