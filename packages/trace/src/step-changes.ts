import { journalPath } from '@delta/journal/internal'
import { type EngineStart, isKnownEvent, type SnapshotEvent, type StoredEvent } from '@delta/journal/runs'
import { isSnapshotError } from '@delta/snapshots'
import { changesBetween, type FileChange, storeOf } from './file-change.js'
import { readableEvents } from './readable-events.js'

/** What an iteration did to the files of the workspace, or why that is not known. */
export type StepChanges = KnownChanges | { unknown: string }

/** What an iteration did to the files of the workspace. */
export interface KnownChanges {
  /**
   * Whose commands may have made them: this iteration, and others with it where no snapshot lies between. Empty if it started no
   * command: it changed nothing.
   */
  iterations: number[]
  /** Sorted by path. Files that one of the two snapshots left out are not among them. */
  files: FileChange[]
  /** What the snapshots left out. */
  omitted: OmittedPath[]
  /** How many that are: only the first hundred of a snapshot are named. */
  omittedCount: number
}

/** A file or directory that is not in a snapshot. */
export interface OmittedPath {
  path: string
  /** Such as `ignored`, `large` or `unreadable`. */
  why: string
}

/**
 * What each iteration of a run did to the files, by its snapshots.
 *
 * @param lastSeq - Later events do not count.
 * @returns Null if the run has taken none.
 */
export async function readStepChanges(
  runDirectory: string,
  lastSeq: number,
): Promise<((n: number) => Promise<StepChanges>) | null> {
  const lives = await livesIn(readableEvents(journalPath(runDirectory)), lastSeq)
  if (lives.every(({ taken }) => taken.length === 0)) return null
  const store = storeOf(runDirectory)

  return async (n) => {
    const { taken, commands, opening } = lives.find(({ last }) => n <= last) as Life
    const hasFiles = taken.filter(isComplete)
    const own = hasFiles.find(
      (each) => each.iteration === n && (commands.has(n) || !opening.has(each)), // people change files between two engines
    )
    if (own === undefined && !commands.has(n))
      return { iterations: [], files: [], omitted: [], omittedCount: 0 }
    const before = hasFiles.findLast(({ iteration }) => iteration < n)
    const after = own ?? hasFiles.find(({ iteration }) => iteration > n)
    if (before === undefined)
      return unknownFor(
        'before',
        taken.findLast(({ iteration }) => iteration < n),
      )
    if (after === undefined)
      return unknownFor(
        'after',
        taken.find(({ iteration }) => iteration >= n),
      )
    const isBetween = (at: number) => at > before.iteration && at <= after.iteration
    const iterations = [...new Set([...commands, n])].filter(isBetween).sort((one, other) => one - other)
    try {
      const all = await changesBetween({ id: before.snapshot_id, store }, { id: after.snapshot_id, store })
      return { iterations, ...withoutOmitted(all, [before, after]) }
    } catch (error) {
      if (!isSnapshotError(error)) throw error
      return { unknown: error.message }
    }
  }
}

/** What one run knows of its files: a fork begins another life, in a workspace of its own. */
interface Life {
  /** Its last iteration. */
  last: number
  /** In order; those that were given up, too. */
  taken: SnapshotEvent[]
  /** The first of each engine: taken before it did anything. */
  opening: Set<SnapshotEvent>
  /** The iterations that started a command. */
  commands: Set<number>
}

function emptyLife(): Life {
  return { last: Number.POSITIVE_INFINITY, taken: [], opening: new Set(), commands: new Set() }
}

/** The snapshot of an iteration begins when the next request is sent: what these hooks did is in it. */
const BEFORE_REQUEST = new Set(['on_iteration_start', 'pre_llm_request'])

async function livesIn(events: AsyncIterable<StoredEvent>, lastSeq: number): Promise<Life[]> {
  let life = emptyLife()
  const lives = [life]
  let isFirst = true
  for await (const event of events) {
    if (event.seq > lastSeq) break
    if (!isKnownEvent(event)) continue
    if (event.type === 'ENGINE_START') isFirst = true
    if (event.type === 'ENGINE_START' && event.parent) {
      life.last = event.parent.iteration
      if (event.parent.snapshot_id) life.taken.push(restored(event)) // the parent's own may stand behind the thought at which it was cut
      life = emptyLife()
      lives.push(life)
    }
    if (event.type === 'SNAPSHOT') {
      life.taken.push(event)
      if (isFirst) life.opening.add(event)
      isFirst = false
    }
    if (event.type === 'ACTION_REQUEST' && event.argv !== null) life.commands.add(event.iteration)
    if (event.type === 'HOOK_EXECUTION_AUDIT' && event.status !== 'SKIPPED' && event.iteration)
      life.commands.add(event.iteration - (BEFORE_REQUEST.has(event.hook_name) ? 1 : 0))
  }
  return lives
}

/** The snapshot that a fork was made of. */
function restored({ parent, ...event }: EngineStart): SnapshotEvent {
  const { iteration = 0, snapshot_id = null, left_out = [] } = parent ?? {}
  const omitted = left_out.map((text) => {
    const [, path = text, why = ''] = /^(.*) \((\w+)[^()]*\)$/s.exec(text) ?? []
    return { root: 'files', path, why }
  })
  return { ...event, type: 'SNAPSHOT', iteration, snapshot_id, omitted }
}

type CompleteSnapshot = SnapshotEvent & { snapshot_id: string }

function isComplete(event: SnapshotEvent): event is CompleteSnapshot {
  return event.snapshot_id !== null
}

function unknownFor(when: 'before' | 'after', givenUp: SnapshotEvent | undefined): StepChanges {
  const why = givenUp?.message ? `: ${givenUp.message}` : ''
  return { unknown: `No snapshot was taken ${when} it${why}.` }
}

/** A file that was left out on one side was neither added nor removed. */
function withoutOmitted(
  all: readonly FileChange[],
  snapshots: readonly SnapshotEvent[],
): Pick<KnownChanges, 'files' | 'omitted' | 'omittedCount'> {
  const byPath = new Map(snapshots.flatMap(omittedIn).map((each) => [each.path, each]))
  const omitted = [...byPath.values()]
  const isLeftOut = ({ path }: FileChange) => {
    if (byPath.has(path)) return true
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1))
      if (byPath.has(path.slice(0, end))) return true
    return false
  }
  return {
    files: all.filter((change) => !isLeftOut(change)),
    omitted,
    omittedCount: Math.max(omitted.length, ...snapshots.map(({ omitted_count = 0 }) => omitted_count)),
  }
}

function omittedIn({ omitted = [] }: SnapshotEvent): OmittedPath[] {
  return omitted.flatMap((each) => {
    const { root, path, why } = Object(each) as Record<string, unknown>
    return root === 'files' && typeof path === 'string' && typeof why === 'string' ? [{ path, why }] : []
  })
}
