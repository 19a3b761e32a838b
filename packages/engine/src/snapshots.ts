import { lstatSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Agent } from '@delta/config-loader'
import type { JournalEvent, Run } from '@delta/journal/runs'
import type { Omitted, Snapshot, SnapshotStore } from '@delta/snapshots'
import { isMissed } from './fork-files.js'
import type { WallClock } from './wall-time.js'

/** Keeps the files of the workspace beside the iterations of a run, without delaying a request. */
export interface Snapshots {
  /**
   * Begins with the files of an iteration, once the next request is handed to the model. Not if no command was started since the
   * snapshot before.
   */
  begin(iteration: number): void
  /** To be called before a command starts: waits for the snapshot under way, or gives it up. */
  beforeCommand(): Promise<void>
  /** Takes the last one and closes the store. A run that is stopped gives up what is under way. */
  end(iteration: number, about: { isStopped: boolean }): Promise<void>
}

/** How long the end of a run waits for its last snapshot. Milliseconds. */
const LAST_WAIT_MS = 10_000
/** After so many in a row that were given up and stored nothing new, this engine takes none. */
const MOST_FAILED = 3

/** What taking snapshots tells its surroundings. */
interface Surroundings {
  agent: Pick<Agent, 'snapshots'>
  /** Stands while a command waits. */
  clock: Pick<WallClock, 'pause' | 'resume' | 'signal'>
  sync: boolean | undefined
  onEvent(event: JournalEvent): void
  /** For people, once. */
  onNotice(message: string): void
}

/** Undefined for an agent without `snapshots:`. */
export function takeSnapshots(
  run: Run,
  { agent, clock, sync, onEvent, onNotice }: Surroundings,
): Snapshots | undefined {
  const { snapshots: settings } = agent
  if (settings === undefined) return undefined
  const { waitMs, ignore, maxBytes } = settings
  let opening: Promise<SnapshotStore> | undefined
  let bytesOfOthers: number | undefined
  /** True when a command may have changed files since the last snapshot began. */
  let isChanged = true
  let isOver = false
  let failed = 0
  let hasSaid = false
  let underWay: UnderWay | undefined

  async function take(iteration: number, signal: AbortSignal): Promise<Snapshot> {
    const { openStore } = await import('@delta/snapshots')
    const directory = join(run.directory, 'snapshots')
    if (isLink(directory)) throw new Error(`${directory} is a link, through which nothing is written.`)
    opening ??= openStore(directory, { sync })
    const store = await opening
    bytesOfOthers ??= await bytesOfOtherRuns(run.directory)
    const exclude = [join(run.workDirectory, '.delta'), dirname(run.directory)]
    const artifacts = join(run.workDirectory, '.delta', 'context_artifacts')
    return store.take(
      {
        files: { directory: run.workDirectory, exclude },
        ...(!isLink(artifacts) && { artifacts: { directory: artifacts } }),
      },
      {
        label: `iteration ${iteration}`,
        ignore,
        maxBytes: Math.max(0, maxBytes - bytesOfOthers),
        signal,
      },
    )
  }

  function begin(iteration: number): void {
    if (!isChanged || isOver || underWay) return
    isChanged = false
    const giveUp = new AbortController()
    const current: UnderWay = { done: Promise.resolve(), giveUp }
    underWay = current
    current.done = take(iteration, giveUp.signal)
      .catch(
        (error: Error): Pick<Snapshot, 'id' | 'message' | 'reason'> => ({
          id: null,
          reason: 'io',
          message: error.message,
        }),
      )
      .then((snapshot) => {
        underWay = undefined
        const { waitedSince = performance.now() } = current
        const waitedMs = Math.round(performance.now() - waitedSince)
        const { reason: givenUp } = giveUp.signal
        if (givenUp !== STOPPED) keep(iteration, snapshot, { waitedMs, givenUp })
      })
  }

  function keep(
    iteration: number,
    snapshot: Partial<Snapshot>,
    { waitedMs, givenUp }: { waitedMs: number; givenUp: string | undefined },
  ): void {
    const { id = null, filesId = null, durationMs, changed, bytes, omitted = [], reason, code } = snapshot
    const message = inWords(snapshot, givenUp)
    const stored = run.journal.append({
      type: 'SNAPSHOT',
      iteration,
      snapshot_id: id,
      files_id: filesId,
      ...(durationMs !== undefined && { duration_ms: durationMs }),
      ...(waitedMs > 0 && { waited_ms: waitedMs }),
      ...(changed !== undefined && { changed }),
      ...(bytes !== undefined && { bytes }),
      ...(omitted.length > 0 && { omitted: mostMissed(omitted), omitted_count: omitted.length }),
      ...(id === null && { reason, message }),
    })
    for (const event of stored) onEvent(event)
    if (id !== null) {
      failed = 0
      return
    }
    isChanged = true // what was given up is to be taken next time
    failed = bytes && reason !== 'git' ? 0 : failed + 1
    if (!hasSaid)
      onNotice(`The files of iteration ${iteration} were not kept: ${message?.replace(/\.$/, '')}.`)
    hasSaid = true
    const isGitMissing = code === 'ERR_SNAPSHOT_NO_GIT'
    if (!isGitMissing && failed < MOST_FAILED) return
    isOver = true
    if (!isGitMissing) onNotice(`No further snapshots are taken by this engine.${adviceOn(snapshot)}`)
  }

  function inWords(
    { reason, message, stored, changed }: Partial<Snapshot>,
    givenUp: string | undefined,
  ): string | undefined {
    const stay = stored ? `; ${counted(stored)} of ${counted(changed)} files were stored and stay` : ''
    if (reason === 'time') return `${givenUp}${stay}`
    if (reason !== 'budget' || !bytesOfOthers) return message
    return `${message} The other runs of this workspace have ${bytesOfOthers} bytes of ${maxBytes}.`
  }

  /** The journal says how long only once the snapshot is done; until then, no limit of time is reached. */
  async function waitFor(snapshot: UnderWay, mostMs: number, event: string): Promise<void> {
    const drop = () => snapshot.giveUp.abort(STOPPED)
    clock.signal.addEventListener('abort', drop)
    clock.pause()
    await settled(snapshot, mostMs, event)
    clock.resume()
    clock.signal.removeEventListener('abort', drop)
  }

  async function beforeCommand(): Promise<void> {
    if (clock.signal.aborted) underWay?.giveUp.abort(STOPPED)
    if (underWay) await waitFor(underWay, waitMs, 'a command started')
    isChanged = true
  }

  async function end(iteration: number, { isStopped }: { isStopped: boolean }): Promise<void> {
    if (isStopped) underWay?.giveUp.abort(STOPPED)
    else begin(iteration)
    if (underWay) await waitFor(underWay, LAST_WAIT_MS, 'the run ended')
    const store = await opening
    store?.close()
  }

  return { begin, beforeCommand, end }
}

/** A command may have put it there, to have files kept that it may not read itself. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

const STOPPED = 'stopped'

interface UnderWay {
  /** Resolves once its event is written. */
  done: Promise<void>
  giveUp: AbortController
  /** Since when a command, or the end of the run, waits for it. */
  waitedSince?: number
}

/** Waits until a snapshot is done; after this time, it is given up for the event that waits. */
async function settled(snapshot: UnderWay, mostMs: number, event: string): Promise<void> {
  snapshot.waitedSince ??= performance.now()
  const timer = new AbortController()
  const late = wait(mostMs, 'late', { signal: timer.signal }).catch(() => undefined)
  const first = await Promise.race([snapshot.done, late])
  timer.abort()
  if (first === 'late') snapshot.giveUp.abort(`${event} after ${mostMs / 1000} s`)
  await snapshot.done
}

function counted(files = 0): string {
  return files.toLocaleString('en-US')
}

/** What the stores of the other runs beside this one take. */
async function bytesOfOtherRuns(runDirectory: string): Promise<number> {
  const { openStore } = await import('@delta/snapshots')
  const above = dirname(runDirectory)
  let sum = 0
  for (const entry of readdirSync(above, { withFileTypes: true })) {
    const directory = join(above, entry.name)
    if (!entry.isDirectory() || directory === runDirectory) continue
    sum += (await openStore(join(directory, 'snapshots'))).bytes()
  }
  return sum
}

/** The first hundred; those that would be missed come before the rest, of which there may be thousands. */
function mostMissed(omitted: Omitted[]): Omitted[] {
  return omitted.toSorted((one, other) => Number(isMissed(other)) - Number(isMissed(one))).slice(0, 100)
}

/** What a person can do about snapshots that take too long or too much. */
function adviceOn({ largest, reason }: Partial<Snapshot>): string {
  if (largest === undefined) return ''
  const raise = reason === 'time' ? 'wait_ms' : 'max_bytes'
  const names = largest.map(({ path, bytes }) => `${path} (${(bytes / 1e6).toFixed(1)} MB)`)
  const where = names.length === 0 ? '' : ` The largest directories: ${names.join(', ')}.`
  return ` Raise snapshots.${raise}, or leave out with snapshots.ignore what is not needed.${where}`
}
