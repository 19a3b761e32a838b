import type { SnapshotEvent, Totals } from '@delta/journal/runs'
import { isSnapshotError } from '@delta/snapshots'
import { diffArrays } from 'diff'
import { type ChangedValue, changedValues } from './changed-values.js'
import { type Comparable, comparable } from './comparable.js'
import { compareSteps } from './compare-steps.js'
import type { Cause, Difference } from './difference.js'
import { changesBetween, type FileChange, storeOf } from './file-change.js'
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
  /** Equal in everything before the first difference; after it, in their calls or their answer. False for the iteration that has it. */
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
  /** The files that differ after the last iteration; null if one of the runs has no snapshot, or there is no git. */
  files: Pick<FileChange, 'path' | 'kind'>[] | null
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
  const { steps, differences } = await compareSides(left, right, equal)
  const [first = differenceAtEnd(a, b) ?? null, ...others] = differences
  const settings = changedSettings(left.config(), right.config(), equal)
  return {
    a: about(a),
    b: about(b),
    same: first === null,
    first,
    also: [...others.map(further), ...settingsBeside(settings, differences)],
    steps,
    files: (await changesOf(left, right))?.map(({ path, kind }) => ({ path, kind })) ?? null,
    masked: equal.masked(),
  }
}

/** Compares step by step up to the first that differs, and aligns the others. */
async function compareSides(
  left: Side,
  right: Side,
  equal: Comparable,
): Promise<{ steps: AlignedSteps[]; differences: Difference[] }> {
  const steps: AlignedSteps[] = []
  const files = filesBefore()
  const isSetting = (path: string) => {
    const own = path.split('.').slice(0, 2).join('.') // below it, a request has other words
    return changedSettings(left.config(), right.config(), equal).some((each) =>
      `${each.path}.`.startsWith(`${own}.`),
    )
  }
  const known = { pairs: new Set<string>(), lines: new Map<number, number>() }
  const comparison = { equal, isSetting, known }
  for (;;) {
    const [one, other] = [await left.next(), await right.next()]
    if (one === undefined && other === undefined) return { steps, differences: [] }
    const differences = one && other ? await compareSteps(one, other, comparison) : []
    const isSame = differences.length === 0 && one && other && isAnswered(one) === isAnswered(other)
    if (isSame && one.step.n === other.step.n) {
      steps.push({ a: one.step.n, b: other.step.n, same: true })
      files.add(one.step, [snapshotIn(left), snapshotIn(right)])
      continue
    }
    const isPair = one !== undefined && other !== undefined && one.step.n === other.step.n
    if (isPair) steps.push({ a: one.step.n, b: other.step.n, same: false })
    const ours = [...(one && !isPair ? [actionsIn(one.step)] : []), ...(await left.rest())]
    const theirs = [...(other && !isPair ? [actionsIn(other.step)] : []), ...(await right.rest())]
    const isOfFiles = differences.some(({ cause }) => cause === 'environment')
    const evidence = isOfFiles ? await files.evidence() : {}
    const found = differences.map((each) => (each.cause === 'environment' ? { ...each, ...evidence } : each))
    return { steps: [...steps, ...aligned(ours, theirs, equal)], differences: found }
  }
}

/** False for an iteration in which a run ended before the model had answered. */
function isAnswered({ step }: { step: Step }): boolean {
  return step.thought !== undefined
}

/** Knows from the snapshots of both runs whether their files were the same before a command printed something else. */
function filesBefore() {
  let since: number | undefined
  let last: Snapshots | undefined

  function add({ n }: Step, snapshots: Snapshots): void {
    last = snapshots
    const [one, other] = snapshots.map(({ snapshot }) => snapshot?.files_id)
    const differ = Boolean(one && other) && one !== other
    since = differ ? (since ?? n) : undefined
  }

  async function evidence(): Promise<Pick<Difference, 'evidence'>> {
    if (!last?.every(({ snapshot }) => snapshot?.files_id)) return {}
    if (since === undefined) return { evidence: 'files were the same' }
    const changes = await changesOf(...last)
    if (changes === null) return { evidence: `files differed since iteration ${since}` }
    const count = changes.length === 1 ? '1 file' : `${changes.length} files`
    const names = changes.slice(0, MOST_NAMED).map(({ path }) => path)
    const all = changes.length > MOST_NAMED ? [...names, '…'] : names
    return { evidence: `${count} differed since iteration ${since}: ${all.join(', ')}` }
  }

  return { add, evidence }
}

/** Files that are named as evidence. */
const MOST_NAMED = 3

function snapshotIn({ directory, snapshot }: WithSnapshot): WithSnapshot {
  return { directory, snapshot }
}

/** The newest snapshots of both runs. */
type Snapshots = [WithSnapshot, WithSnapshot]

interface WithSnapshot {
  directory: string
  /** Undefined before the first one. */
  snapshot: SnapshotEvent | undefined
}

/** Null if one is missing or was not captured, or there is no git to read it. */
async function changesOf(left: WithSnapshot, right: WithSnapshot): Promise<FileChange[] | null> {
  const [one, other] = [left.snapshot, right.snapshot]
  if (!one?.snapshot_id || !other?.snapshot_id) return null
  if (one.files_id && one.files_id === other.files_id) return []
  const inStores = [left, right].map(({ directory }) => storeOf(directory)) as [string, string]
  try {
    return await changesBetween(
      { id: one.snapshot_id, store: inStores[0] },
      { id: other.snapshot_id, store: inStores[1] },
    )
  } catch (error) {
    if (isSnapshotError(error)) return null
    throw error
  }
}

type Side = ReturnType<typeof sideOf>

/** Reads the steps of a run one after another, and the newest configuration on the way. */
function sideOf(trace: Trace) {
  const steps = trace.steps()
  const parts = recordedParts(trace.run.directory)
  let config: unknown
  let snapshot: SnapshotEvent | undefined

  async function next(): Promise<{ step: Step; parts: RecordedParts } | undefined> {
    const { done, value } = await steps.next()
    if (done) return undefined
    for (const start of value.starts) config = start.config
    snapshot = value.snapshot ?? snapshot
    return { step: value, parts }
  }

  /** What aligning needs is little: the steps of a long run are not kept whole. */
  async function rest(): Promise<Actions[]> {
    const all: Actions[] = []
    for (let one = await next(); one; one = await next()) all.push(actionsIn(one.step))
    return all
  }

  return {
    next,
    rest,
    config: () => config,
    directory: trace.run.directory,
    /** The newest; an iteration that started no command takes none. */
    get snapshot() {
      return snapshot
    },
  }
}

/** What an iteration did: its calls, or its answer. */
interface Actions {
  n: number
  text: string
}

function actionsIn({ n, calls, thought }: Step): Actions {
  const done = calls.map(({ name, argv, args }) => [name, argv, args])
  return { n, text: JSON.stringify(calls.length > 0 ? done : (thought?.content ?? null)) }
}

/** Steps stand beside each other if they called the same tools with the same arguments and commands, or gave the same answer. */
function aligned(left: readonly Actions[], right: readonly Actions[], equal: Comparable): AlignedSteps[] {
  const actions = (steps: readonly Actions[]) => steps.map(({ text }) => equal(text))
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

/** The cause is in the end of the shorter run, or of the one that did not complete. */
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

/** What the answer was not, though its text may be the same. */
const OF_ANSWER = new Set([
  'empty_answer',
  'unparsed_tool_call',
  'missing_tool_call',
  'cut_off',
  'content_filter',
  'model_refused',
])

function causeOfEnd(code: string | null): Cause {
  if (code?.startsWith('limit_') || code === 'context_overflow' || code === 'configuration')
    return 'configuration'
  if (code?.startsWith('provider_')) return 'environment'
  if (['signal', 'killed', 'question', 'approval', 'hook_stopped'].includes(code ?? '')) return 'intervention'
  if (OF_ANSWER.has(code ?? '')) return 'model'
  return 'unknown'
}

function further({ cause, where, left, right, step }: Difference): FurtherDifference {
  return { cause, where, left, right, visible_from: step }
}

/** The environment of a run is a fact, not a setting. */
function changedSettings(left: unknown, right: unknown, equal: Comparable): ChangedValue[] {
  const settings = (config: unknown) => {
    const { environment: _, ...rest } = Object(config) as Record<string, unknown>
    return rest
  }
  return changedValues(settings(left), settings(right), equal)
}

/** The settings that no difference between requests names already. */
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
