import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CellOfRun,
  cellReader,
  foldRun,
  journalPath,
  ownSpendingIn,
  readRunThrough,
} from '@delta/journal/internal'
import {
  type ActionResult,
  type EngineStart,
  isKnownEvent,
  type RunSummary,
  type StoredEvent,
  type Totals,
} from '@delta/journal/runs'
import { completer, lacksPrice, type PriceOptions } from './prices.js'
import { readableEvents } from './readable-events.js'

/** A run that a call of another one started. */
export interface ChildRun {
  /** The call. */
  actionId: string
  runId: string
  /** Its path, as its caller recorded it. */
  directory: string
  /** As it stands now; as its caller recorded it if it is gone. Null where nobody says. */
  status: string | null
  reasonCode: string | null
  /** What it and its own sub-agents cost. */
  totals: Totals | null
  /** What it started itself. */
  children: ChildRun[]
  /** True when its directory was removed. */
  isGone: boolean
  /** True when it went on after its call had ended: its caller's journal does not count all of it. */
  wentOn: boolean
  /** True when the call was copied from the run of which its caller is a fork: it is a sub-agent of that one, and counts there. */
  isInherited: boolean
}

/** A run, what it cost with all that its sub-agents cost until now, and those sub-agents. */
export interface TracedRun extends RunSummary {
  /** The number of its last event. */
  lastSeq: number
  /** In the order of their calls. */
  children: ChildRun[]
  /** Paths that its texts may name: where it is and was, and where the runs are that it was forked from. */
  places: RunPlaces
  /** Where it stands in an evaluation; absent for any other run. */
  cell?: CellOfRun
}

/** Absolute paths of a run, under all the names that they have had. */
export interface RunPlaces {
  workspaces: string[]
  directories: string[]
  /** Directories of its agent. */
  agents: string[]
  /** Directories of its tools that lie outside of these. */
  tools: string[]
}

/**
 * Reads a run and its sub-agents. Damage, and files that cannot be read, are in `problem`.
 *
 * What a journal of another program lacks is completed: tokens from `usage`, prices from the tables.
 *
 * @param options.cellOf - Shared by a caller that reads many cells.
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`.
 */
export async function readTracedRun(
  directory: string,
  options: PriceOptions & { seen?: Set<string>; cellOf?: ReturnType<typeof cellReader> } = {},
): Promise<TracedRun> {
  const { cellOf = cellReader(), ...others } = options
  const run = await readWithChildren(directory, others)
  const cell = cellOf(run.directory)
  return cell === undefined ? run : { ...run, cell }
}

async function readWithChildren(
  directory: string,
  { seen = new Set<string>(), ...prices }: PriceOptions & { seen?: Set<string> },
): Promise<TracedRun> {
  seen.add(realPath(directory))
  let isIncomplete = prices.reprice === true
  const results: ActionResult[] = []
  const starts: EngineStart[] = []
  let lastSeq = 0
  const run = await readRunThrough(directory, {
    tolerant: true,
    through: (event) => {
      lastSeq = Math.max(lastSeq, event.seq)
      if (isKnownEvent(event) && event.type === 'ACTION_RESULT' && event.child_runs) results.push(event)
      if (isKnownEvent(event) && event.type === 'ENGINE_START') starts.push(event)
      isIncomplete ||= lacksPrice(event)
      return event
    },
  })
  const children = await childrenOf(results, { ...prices, seen })
  const places = placesIn(starts, run.directory)
  const isOther = ({ wentOn, isGone }: ChildRun) => wentOn || (prices.reprice === true && !isGone)
  const others = new Map(children.filter(isOther).map((child) => [child.directory, child]))
  const isDamaged = run.problem?.code === 'ERR_JOURNAL_CORRUPT'
  if (!isIncomplete && others.size === 0 && !isDamaged) return { ...run, children, lastSeq, places }
  const complete = await completer(prices)
  const through = (event: StoredEvent) => {
    lastSeq = Math.max(lastSeq, event.seq)
    return withTotals(complete(event), others)
  }
  if (isDamaged) return { ...run, totals: await totalsUpToDamage(run, through), children, lastSeq, places }
  const completed = await readRunThrough(directory, { tolerant: true, through })
  return { ...completed, children, lastSeq, places }
}

/** Those that were inherited name the places of the run before. A run directory usually moves with its workspace. */
export function placesIn(starts: readonly EngineStart[], directory: string): RunPlaces {
  const unique = (paths: (string | null | undefined)[]) =>
    [...new Set(paths.filter((path) => !!path))] as string[]
  const workspaces = unique(starts.map(({ work_dir }) => work_dir))
  const within = workspaces.flatMap((path) => starts.map(({ run_id }) => join(path, '.delta', run_id)))
  return {
    workspaces,
    directories: unique([directory, ...starts.map(({ parent }) => parent?.directory), ...within]),
    agents: unique(starts.map(({ agent_home }) => agent_home)),
    tools: unique(starts.flatMap(({ tool_homes = {} }) => Object.values(tool_homes))),
  }
}

/** The steps end at the damage, too: so what they cost adds up to this. */
async function totalsUpToDamage(
  { directory, owner }: RunSummary,
  through: (event: StoredEvent) => StoredEvent,
): Promise<Totals> {
  const fold = foldRun()
  for await (const event of readableEvents(journalPath(directory))) fold.add(through(event))
  return fold.summary(directory, owner).totals
}

/** The last entry for a run counts. */
async function childrenOf(
  results: readonly ActionResult[],
  options: PriceOptions & { seen: Set<string> },
): Promise<ChildRun[]> {
  const last = new Map<string, ChildRun>()
  for (const child of results.flatMap(recordedChildren)) last.set(child.directory, child)
  const children: ChildRun[] = []
  for (const recorded of last.values()) children.push(await childAsItStands(recorded, options))
  return children
}

/** One directory has many names, and a tool may have written any of them. */
function realPath(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    return directory // it is gone
  }
}

async function childAsItStands(
  said: ChildRun,
  options: PriceOptions & { seen: Set<string> },
): Promise<ChildRun> {
  const { directory, totals } = said
  if (options.seen.has(realPath(directory))) return said // a tool wrote there: no run has two callers
  const live = await readTracedRun(directory, options).catch(() => undefined)
  if (live === undefined || live.status === 'EMPTY') return { ...said, isGone: true }
  const counted = totals?.all?.requests ?? 0
  return {
    ...said,
    status: live.status,
    reasonCode: live.metadata.reason_code,
    totals: live.totals,
    children: live.children,
    isGone: false,
    wentOn: !said.isInherited && live.totals.all.requests > counted,
  }
}

/** The runs that a call started, as its result says: none of them is opened. */
export function recordedChildren({ action_id, child_runs = [], inherited }: ActionResult): ChildRun[] {
  return child_runs.map(({ run_id, directory, status = null, reason_code = null, totals }) => ({
    actionId: action_id,
    runId: run_id,
    directory,
    status,
    reasonCode: reason_code,
    totals: isTotals(totals) ? totals : null,
    children: [],
    isGone: false,
    wentOn: false,
    isInherited: inherited === true,
  }))
}

/** True for what an engine writes: a tool may have written the journal. */
export function isTotals(value: unknown): value is Totals {
  const { duration_ms, sub_agents } = Object(value) as Record<string, unknown>
  return (
    ownSpendingIn(value) !== undefined && Number.isFinite(duration_ms) && sub_agents === Object(sub_agents)
  )
}

/** The result of a call with what its sub-agents cost now. */
function withTotals(event: StoredEvent, others: ReadonlyMap<string, ChildRun>): StoredEvent {
  if (!isKnownEvent(event) || event.type !== 'ACTION_RESULT' || !event.child_runs) return event
  const child_runs = event.child_runs.map((child) => {
    const totals = others.get(child.directory)?.totals
    return totals ? { ...child, totals: { ...totals } } : child
  })
  return { ...event, child_runs }
}
