import { DETACHED_UNSEEN } from './processes.js'
import { type CellStatus, reasonsOf, type Standing, tokensIn } from './status.js'
import type { PlannedVariant } from './types.js'

/** A line of a table of anybody's scores. Null: the try has no score by no fault of the variant. */
export interface Score {
  variant: string
  task: string
  score: number | null
}

/** One try, as a report reads it. */
export interface ReportedCell {
  variant: string
  task: string
  repeat: number
  state: Standing
  score: number | null
  /** Why it does not count. */
  missing?: string
  metrics: Record<string, number>
  spent?: { tokens: number; cost: number | null; priced: number }
  seconds?: number
  models: readonly string[]
  engine?: string
  sandbox?: string
  /** False: what the agent left running was not looked for. */
  isWatched?: boolean
}

/** What a report knows beside the cells. */
export interface About {
  name: string
  kinds: ReadonlyMap<string, PlannedVariant['kind']>
  repeats: number
  engine?: string
  sandbox?: string
}

export function cellsOfResults(results: readonly CellStatus[]): ReportedCell[] {
  return results.map(({ cell, standing, result }) => {
    const { variant, task, repeat } = cell
    if (result === undefined)
      return { variant, task, repeat, state: standing, score: null, metrics: {}, models: [] }
    const [missing] = Object.keys(reasonsOf([result]))
    return {
      variant,
      task,
      repeat,
      state: standing,
      score: result.score,
      ...(missing !== undefined && { missing }),
      metrics: metricsIn(result.scores),
      spent: spentIn(result.totals),
      seconds: result.ms.agent / 1000,
      models: [...result.models].sort(),
      engine: result.engine,
      sandbox: result.sandbox,
      isWatched: !result.warnings.includes(DETACHED_UNSEEN),
    }
  })
}

type Totals = NonNullable<CellStatus['result']>['totals']

/** An agent that is no run, such as the oracle, spends nothing. */
function spentIn(totals: Totals): NonNullable<ReportedCell['spent']> {
  if (totals === null) return { tokens: 0, cost: 0, priced: 1 }
  return { tokens: tokensIn(totals.all), cost: totals.all.cost, priced: totals.all.priced }
}

function metricsIn(scores: NonNullable<CellStatus['result']>['scores']): Record<string, number> {
  const found = Object.entries(scores).flatMap(([scorer, { score, metrics }], at) => [
    ...(at > 0 && score !== null ? [[scorer, score] as const] : []),
    ...Object.entries(metrics).map(([name, value]) => [`${scorer}.${name}`, value] as const),
  ])
  return Object.fromEntries(found)
}

export function cellsOfScores(scores: readonly Score[]): ReportedCell[] {
  const tries = new Map<string, number>()
  return scores.map(({ variant, task, score }) => {
    const key = JSON.stringify([variant, task])
    const repeat = (tries.get(key) ?? 0) + 1
    tries.set(key, repeat)
    const base = { variant, task, repeat, score, metrics: {}, models: [] }
    if (score !== null) return { ...base, state: 'scored' }
    return { ...base, state: 'unscored-infra', missing: 'no score' }
  })
}

/** True unless it counts. */
export function isMissing({ state }: ReportedCell): boolean {
  return state !== 'scored' && state !== 'unscored-agent'
}

/** Why cells do not count, the most frequent reason first. */
export function missingIn(cells: readonly ReportedCell[]): Record<string, number> {
  const counts = countedBy(cells.flatMap(({ missing }) => missing ?? []))
  return Object.fromEntries(counts)
}

function countedBy(words: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].sort(([one, ones], [other, others]) => others - ones || (one < other ? -1 : 1))
}

/** What tried the tasks, and what was not the same for all. */
export function mixturesIn(
  counted: readonly ReportedCell[],
  about: About,
): { engines: string[]; sandboxes: string[]; notes: string[] } {
  const engines = countedBy(counted.flatMap(({ engine }) => engine ?? []))
  const sandboxes = countedBy(counted.flatMap(({ sandbox }) => sandbox ?? []))
  return {
    engines: namesOf(engines, about.engine),
    sandboxes: namesOf(sandboxes, about.sandbox),
    notes: [
      ...(engines.length > 1 ? [`Mixed engines: ${inWords(engines)}.`] : []),
      ...(sandboxes.length > 1 ? [`Mixed sandboxes: ${inWords(sandboxes)}.`] : []),
      ...(counted.some(({ isWatched }) => isWatched === false)
        ? ['Detached processes of agents were not looked for (no /proc).']
        : []),
      ...[...new Set(counted.map(({ variant }) => variant))].flatMap((name) => {
        const models = countedBy(
          counted.flatMap((cell) =>
            cell.variant === name && cell.models.length > 0 ? cell.models.join(' + ') : [],
          ),
        )
        return models.length > 1 ? `Mixed models in ${name}: ${inWords(models)}.` : []
      }),
    ],
  }
}

function namesOf(counts: readonly [string, number][], planned: string | undefined): string[] {
  if (counts.length > 0) return counts.map(([name]) => name).sort()
  return planned === undefined ? [] : [planned]
}

function inWords(counts: readonly [string, number][]): string {
  return counts.map(([name, count]) => `${name} ${count === 1 ? '1 cell' : `${count} cells`}`).join(', ')
}

/** What makes every other figure doubtful. */
export function alarmsIn(counted: readonly ReportedCell[], { kinds }: About): string[] {
  const tasksOf = (kind: PlannedVariant['kind'], isWrong: (score: number) => boolean) => [
    ...new Set(
      counted.flatMap(({ variant, task, score }) =>
        kinds.get(variant) === kind && isWrong(score ?? 0) ? task : [],
      ),
    ),
  ]
  const below = tasksOf('oracle', (score) => score < 1)
  const above = tasksOf('nop', (score) => score > 0)
  return [
    ...(below.length > 0
      ? [`THE ORACLE IS BELOW 1: THE SOLUTION OR THE SCORER IS WRONG IN ${few(below)}.`]
      : []),
    ...(above.length > 0 ? [`NOP IS ABOVE 0: THE SCORER GIVES POINTS FOR NOTHING IN ${few(above)}.`] : []),
  ]
}

const NAMED = 5

function few(names: readonly string[]): string {
  const more = names.length - NAMED
  return `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` AND ${more} MORE` : ''}`
}
