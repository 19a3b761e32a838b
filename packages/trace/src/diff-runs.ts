import type { Totals } from '@delta/journal/runs'
import { diffArrays } from 'diff'
import { actionsOf, type ChangedValue, type Comparable, changedValues, comparable } from './comparable.js'
import { type Cause, compareSteps, type Difference } from './compare-steps.js'
import { type RecordedParts, recordedParts } from './recorded-parts.js'
import type { Step } from './steps.js'
import type { Trace } from './trace.js'

/** A run of a comparison. */
export interface ComparedRun {
  run_id: string
  directory: string
  iterations: number
  status: string
  totals: Totals
}

/** A difference beside the first one: found at the same iteration, or a setting that differs. */
export interface FurtherDifference {
  cause: Cause
  where: string
  left: string | null
  right: string | null
  /** The iteration that shows it; null if none does. */
  visible_from: number | null
}

/** Two iterations that stand beside each other; null where one run has none that fits. */
export interface AlignedSteps {
  a: number | null
  b: number | null
  /** Before the first difference: in everything. After it: in their calls. */
  same: boolean
}

/** How two runs differ. */
export interface RunDiff {
  a: ComparedRun
  b: ComparedRun
  same: boolean
  /** The first difference; null if there is none. */
  first: Difference | null
  also: FurtherDifference[]
  steps: AlignedSteps[]
  /** How many texts were masked. */
  masked: number
}

/** How runs are compared. */
export interface DiffOptions {
  /** Text that does not count, with the flag `g`. */
  masks?: readonly RegExp[] | undefined
}

/**
 * Compares two runs, iteration by iteration up to the first difference, and names its cause. Ids, times and durations do not
 * count; the paths of both runs are made equal. What comes after the first difference is aligned by its calls.
 *
 * @example
 * const { first } = await diffRuns(await openTrace('.delta/a'), await openTrace('.delta/b'))
 * console.log(first?.step, first?.cause, first?.where)
 */
export async function diffRuns(a: Trace, b: Trace, { masks }: DiffOptions = {}): Promise<RunDiff> {
  const equal = comparable([a.run, b.run], masks)
  const [left, right] = [sideOf(a), sideOf(b)]
  const steps: AlignedSteps[] = []
  let differences: Difference[] = []
  for (;;) {
    const [one, other] = [await left.next(), await right.next()]
    if (one === undefined && other === undefined) break
    differences = one && other ? await collected(compareSteps(one, other, equal)) : []
    if (one && other && differences.length === 0 && one.step.n === other.step.n) {
      steps.push({ a: one.step.n, b: other.step.n, same: true })
      continue
    }
    const rest = [
      [...(one ? [one.step] : []), ...(await left.rest())],
      [...(other ? [other.step] : []), ...(await right.rest())],
    ] as const
    steps.push(...aligned(...rest, equal))
    break
  }
  const ended = differenceAtEnd(a, b)
  const [first = ended ?? null, ...others] = differences
  const settings = changedSettings(left.config(), right.config(), equal)
  return {
    a: about(a),
    b: about(b),
    same: first === null,
    first,
    also: [...others.map(further), ...settingsBeside(settings, differences)],
    steps,
    masked: equal.masked(),
  }
}

/** Reads the steps of a run one after another, and the newest configuration on the way. */
function sideOf(trace: Trace) {
  const steps = trace.steps()
  const parts = recordedParts(trace.run.directory)
  let config: unknown

  async function next(): Promise<{ step: Step; parts: RecordedParts } | undefined> {
    const { done, value } = await steps.next()
    if (done) return undefined
    for (const start of value.starts) config = start.config
    return { step: value, parts }
  }

  /** What aligning needs is little: the steps of a long run are not kept whole. */
  async function rest(): Promise<Pick<Step, 'n' | 'calls'>[]> {
    const all: Pick<Step, 'n' | 'calls'>[] = []
    for (let one = await next(); one; one = await next()) all.push({ n: one.step.n, calls: one.step.calls })
    return all
  }

  return { next, rest, config: () => config }
}

async function collected<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

function aligned(
  left: readonly Pick<Step, 'n' | 'calls'>[],
  right: readonly Pick<Step, 'n' | 'calls'>[],
  equal: Comparable,
): AlignedSteps[] {
  const actions = (steps: readonly Pick<Step, 'calls'>[]) => steps.map((step) => actionsOf(step, equal))
  const [ours, theirs] = [left.map(({ n }) => n), right.map(({ n }) => n)]
  const take = (numbers: number[]) => numbers.shift() ?? null
  return diffArrays(actions(left), actions(right)).flatMap(({ added, removed, value }) =>
    value.map(() => {
      if (removed) return { a: take(ours), b: null, same: false }
      if (added) return { a: null, b: take(theirs), same: false }
      return { a: take(ours), b: take(theirs), same: true }
    }),
  )
}

/** The shorter run says why there is no more, else the ends are compared. */
function differenceAtEnd({ run: a }: Trace, { run: b }: Trace): Difference | undefined {
  const [left, right] = [a, b].map(({ status, metadata }) => `${status} (${metadata.reason_code ?? '-'})`)
  if (left === right && a.lastIteration === b.lastIteration) return undefined
  const ended =
    a.lastIteration < b.lastIteration || (a.lastIteration === b.lastIteration && a.status !== 'COMPLETED')
      ? a
      : b
  return {
    cause: causeOfEnd(ended.metadata.reason_code),
    step: Math.min(a.lastIteration, b.lastIteration),
    at: 'end',
    where: 'ENGINE_END',
    left: left ?? null,
    right: right ?? null,
  }
}

function causeOfEnd(code: string | null): Cause {
  if (code?.startsWith('limit_') || code === 'context_overflow' || code === 'configuration')
    return 'configuration'
  if (code?.startsWith('provider_')) return 'environment'
  if (['signal', 'killed', 'question', 'approval', 'hook_stopped'].includes(code ?? '')) return 'intervention'
  return 'unknown'
}

function further({ cause, where, left, right, step }: Difference): FurtherDifference {
  return { cause, where, left, right, visible_from: step }
}

/** What was found out about an environment says nothing of a setting. */
function changedSettings(left: unknown, right: unknown, equal: Comparable): ChangedValue[] {
  const settings = (config: unknown) => {
    const { environment: _, ...rest } = Object(config) as Record<string, unknown>
    return rest
  }
  return changedValues(settings(left), settings(right), equal)
}

/** Those that a request shows stand among its differences already. */
function settingsBeside(
  settings: readonly ChangedValue[],
  differences: readonly Difference[],
): FurtherDifference[] {
  const shown = new Set(differences.map(({ where }) => where))
  return settings
    .filter(({ path }) => !shown.has(path) && !path.includes('.__meta'))
    .map(({ path, left, right }) => ({
      cause: 'configuration',
      where: path,
      left,
      right,
      visible_from: null,
    }))
}

function about({ run }: Trace): ComparedRun {
  const { runId: run_id, directory, lastIteration: iterations, status, totals } = run
  return { run_id, directory, iterations, status, totals }
}
