import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readHolder } from '@delta/durable'
import { standingOf } from '@delta/journal/internal'
import { evalPaths } from './layout.js'
import { doesCount } from './plan.js'
import { readWhole } from './read-whole.js'
import { nameOf } from './score.js'
import { cellsIn, numbersIn, readPlan, readResult } from './stored.js'
import type { Cell, CellResult, CellState } from './types.js'

/** Where a cell stands. `lost`: its worker died, and the next one goes on with it. */
export type Standing = CellState | 'pending' | 'running' | 'lost'

/** One cell of the plan, and what is known of it. */
export interface CellStatus {
  cell: Cell
  standing: Standing
  result?: CellResult
}

/** How many cells stand where. */
export interface CellCounts {
  planned: number
  scored: number
  unscored_agent: number
  unscored_infra: number
  invalid: number
  pending: number
}

/** Where an evaluation stands. */
export interface EvalStatus {
  name: string
  cells: CellCounts & { running: number; lost: number }
  /** Cells that lie there and are planned no longer. */
  left: number
  /** Who works on it now: processes, as `host:pid`. */
  workers: string[]
  /** Results in the last minutes; null if there is none, or nobody works on it. */
  rate_per_minute: number | null
  eta_s: number | null
  totals: { requests: number; tokens: number; cost: number | null; priced: number }
  /** Why cells have no score: how often each reason. */
  unscored: Record<string, number>
  /** The file with what a broken scorer printed to stderr, for the first cell where it printed something; null if there is none. */
  scorer_stderr: string | null
}

/**
 * Every planned cell, in the order of work. Reads files only.
 *
 * @throws {EvaluationError} `ERR_EVAL_NOT_FOUND`; `ERR_EVAL_PLAN`: `manifest.jsonl` is not the plan's.
 */
export function results(directory: string): CellStatus[] {
  const { plan, cells } = readWhole(directory)
  return cells.map((cell) => {
    const paths = evalPaths(directory).cell(cell.cell)
    const result = readResult(paths)
    if (result && doesCount(plan, cell, result)) return { cell, standing: result.state, result }
    return { cell, standing: standingOf(paths.directory) }
  })
}

/**
 * Where an evaluation stands, from its files alone: any machine that sees them may ask.
 *
 * @throws {EvaluationError} `ERR_EVAL_NOT_FOUND`.
 */
export function evalStatus(directory: string, now = Date.now()): EvalStatus {
  const all = results(directory)
  const cells = countCells(all.map(({ standing }) => standing))
  const planned = new Set(all.map(({ cell }) => cell.cell))
  const found = all.flatMap(({ result }) => result ?? [])
  const rate = cells.running === 0 ? null : ratePerMinute(found, now) // nobody works on it: it says nothing of what is to come
  const open = cells.pending + cells.running + cells.lost
  return {
    name: readPlan(directory).name,
    cells,
    left: cellsIn(directory).filter((cell) => !planned.has(cell)).length,
    workers: workersIn(directory, all),
    rate_per_minute: rate,
    eta_s: rate === null || open === 0 ? null : Math.round((60 * open) / rate),
    totals: totalsOf(found),
    unscored: reasonsOf(found),
    scorer_stderr: stderrOfScorer(directory, all),
  }
}

export function countCells(standings: readonly Standing[]): EvalStatus['cells'] {
  const count = (standing: Standing) => standings.filter((each) => each === standing).length
  return {
    planned: standings.length,
    scored: count('scored'),
    unscored_agent: count('unscored-agent'),
    unscored_infra: count('unscored-infra'),
    invalid: count('invalid'),
    pending: count('pending'),
    running: count('running'),
    lost: count('lost'),
  }
}

const RATED_MS = 10 * 60_000
/** The first results tell nothing: cells that begin together end together. */
const RATED_FROM_MINUTES = 0.05

function ratePerMinute(found: readonly CellResult[], now: number): number | null {
  const times = found.map(({ at }) => Date.parse(at)).filter((at) => now - at < RATED_MS)
  if (times.length < 2) return null
  const minutes = (now - Math.min(...times)) / 60_000
  return minutes >= RATED_FROM_MINUTES ? times.length / minutes : null
}

function workersIn(directory: string, all: readonly CellStatus[]): string[] {
  const running = all.filter(({ standing }) => standing === 'running')
  const records = running.map(({ cell }) => readHolder(evalPaths(directory).cell(cell.cell).lease)?.record)
  return [...new Set(records.flatMap((record) => (record ? [`${record.host}:${record.pid}`] : [])))].sort()
}

function totalsOf(found: readonly CellResult[]): EvalStatus['totals'] {
  const all = found.flatMap(({ totals }) => totals?.all ?? [])
  const tokens = all.map(tokensIn)
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
  const priced = sum(all.map(({ priced: share }, index) => share * (tokens[index] ?? 0)))
  const costs = all.flatMap(({ cost }) => cost ?? [])
  return {
    requests: sum(all.map(({ requests }) => requests)),
    tokens: sum(tokens),
    cost: costs.length === 0 ? null : sum(costs),
    priced: sum(tokens) === 0 ? 1 : priced / sum(tokens),
  }
}

/** Those that the provider counted, and those that it did not. */
export function tokensIn({ tokens, estimated }: NonNullable<CellResult['totals']>['all']): number {
  return Object.values(tokens).reduce((sum, one) => sum + one, estimated)
}

function stderrOfScorer(directory: string, all: readonly CellStatus[]): string | null {
  const { scorers } = readPlan(directory)
  for (const { cell, result } of all) {
    if (!result?.reason.startsWith('scorer_')) continue
    const { scores } = evalPaths(directory).cell(cell.cell)
    const broken = scorers.find((each) => result.detail.startsWith(nameOf(each)))?.name
    const number = numbersIn(scores, { before: `${broken}-` }).at(-1)
    const path = join(scores, `${broken}-${number}`, 'stderr')
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) return path
  }
  return null
}

/** Why cells have no score: how often each reason. */
export function reasonsOf(found: readonly CellResult[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { state, reason, detail } of found) {
    if (state !== 'unscored-infra' && state !== 'invalid') continue
    const words = reason.startsWith('scorer') || reason === 'setup' ? detail : reason
    counts[words] = (counts[words] ?? 0) + 1
  }
  return counts
}

/** True for a reason whose remedy may be another eval.yaml: cells that are run again go by the plan. */
export function isOfEvalFile(reason: string): boolean {
  return /^(scorer|setup)\b/.test(reason)
}
