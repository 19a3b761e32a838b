import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type EngineStart, isKnownEvent, type SnapshotEvent, type StoredEvent } from '@delta/journal/runs'
import { EngineError } from './errors.js'

/** The files of an iteration, as a snapshot has them. */
export interface FilesOfIteration {
  snapshotId: string
  /** Says "same contents" across runs; null where the snapshot does not say. */
  filesId: string | null
  /** What was in the workspace and is not in it, one text each; the first hundred of `leftOutCount`. */
  leftOut: string[]
  leftOutCount: number
}

/** What a fork got of the workspace of the run. */
export interface RestoredFiles {
  files: number
  bytes: number
  /** What was in the workspace and is not in the fork, one text each; the first hundred of `leftOutCount`. */
  leftOut: string[]
  leftOutCount: number
}

/**
 * Finds the snapshot that has the files of an iteration: its own, or an earlier one after which no command was started.
 *
 * @param about.name - The run, as messages name it.
 * @throws {EngineError} `ERR_ENGINE_FORK_FILES`: there is none, or files are not in it.
 */
export function filesOf(
  events: readonly StoredEvent[],
  { at, name, directory, mayMiss }: { at: number; name: string; directory: string; mayMiss: boolean },
): FilesOfIteration {
  const refuse = (why: string, way: 'without_files' | undefined) =>
    new EngineError('ERR_ENGINE_FORK_FILES', why, { path: directory, ...(way && { wayOut: way }) })
  const snapshots = events.filter(isSnapshot)
  if (snapshots.length === 0)
    throw refuse(`${name} has no files of iteration ${at}: ${whyNone(events)}`, 'without_files')
  const upTo = snapshots.filter(({ iteration }) => iteration <= at)
  const last = upTo.findLast(isTaken) // a later attempt may have failed; nothing had changed
  if (last === undefined || events.some((event) => isCommandBetween(event, last.iteration, at))) {
    const others = snapshots.filter(isTaken).map(({ iteration }) => iteration)
    const near = others.sort((one, other) => Math.abs(one - at) - Math.abs(other - at))[0]
    const { message } = upTo.at(-1) ?? {}
    const why = [
      ...(message ? [message] : []),
      ...(near === undefined ? [] : [`iteration ${near} has files`]),
    ]
    throw refuse(
      `${name} has no files of iteration ${at}: not captured${why.length > 0 ? ` (${why.join('; ')})` : ''}.`,
      'without_files',
    )
  }
  const omitted = (last.omitted ?? []).map((each) => Object(each) as OmittedPath)
  const missing = omitted.filter(isMissed)
  if (missing.length > 0 && !mayMiss)
    throw refuse(
      `Iteration ${at} lacks ${missing.length} ${missing.length === 1 ? 'file' : 'files'}: ${missing.map(inWords).join(', ')}. --allow-missing forks without them.`,
      undefined,
    )
  return {
    snapshotId: last.snapshot_id,
    filesId: last.files_id ?? null,
    leftOut: omitted.map(inWords),
    leftOutCount: last.omitted_count ?? omitted.length,
  }
}

/** Why a run has no snapshot at all. */
function whyNone(events: readonly StoredEvent[]): string {
  const starts = events.filter((event): event is EngineStart => event.type === 'ENGINE_START')
  if (starts.some(({ imported }) => imported !== undefined)) return 'it was imported.'
  if (starts.some(({ replay }) => replay?.tools === 'recorded'))
    return 'it is a replay, in which no command ran.'
  const { engine, config } = starts.at(-1) ?? {}
  if (engine === undefined) return 'it was made before snapshots existed.'
  const { snapshots = 'off' } = Object(config)
  return snapshots === 'off' ? 'it ran with snapshots: off.' : 'it was stopped before one was taken.'
}

interface OmittedPath {
  path: string
  why: string
  bytes?: number
}

/** Whether a person would miss it. The rest was left out on purpose, or cannot be kept. */
export function isMissed({ why }: { why: string }): boolean {
  return ['large', 'unreadable', 'changing'].includes(why)
}

function inWords({ path, why, bytes }: OmittedPath): string {
  return `${path} (${why}${bytes === undefined ? '' : `, ${(bytes / 1e9).toFixed(1)} GB`})`
}

function isSnapshot(event: StoredEvent): event is SnapshotEvent {
  return isKnownEvent(event) && event.type === 'SNAPSHOT'
}

function isTaken(event: SnapshotEvent): event is SnapshotEvent & { snapshot_id: string } {
  return event.snapshot_id !== null
}

/** Whether a command of a later iteration may have changed files. */
function isCommandBetween(event: StoredEvent, after: number, until: number): boolean {
  if (!isKnownEvent(event)) return false
  const isCommand =
    (event.type === 'ACTION_REQUEST' && event.argv !== null) ||
    (event.type === 'HOOK_EXECUTION_AUDIT' && event.status !== 'SKIPPED')
  if (!isCommand) return false
  const { iteration = 0 } = event
  const isBefore = iteration === after + 1 && isBeforeRequest(event)
  return iteration > after && iteration <= until && !isBefore
}

/** A snapshot begins when the next request is handed to the model: these hooks have run by then. */
function isBeforeRequest(event: StoredEvent): boolean {
  if (!isKnownEvent(event) || event.type !== 'HOOK_EXECUTION_AUDIT') return false
  return event.hook_name === 'on_iteration_start' || event.hook_name === 'pre_llm_request'
}

/**
 * Writes the files of a snapshot into the workspace of a fork, which is empty or not there.
 *
 * @throws {EngineError} `ERR_ENGINE_FORK_FILES`: git is not there, or the snapshot is damaged. The system's error, such as `ENOSPC`.
 */
export async function restoreFiles(
  runDirectory: string,
  { snapshotId, leftOut, leftOutCount }: FilesOfIteration,
  into: string,
): Promise<RestoredFiles> {
  const { openStore, isSnapshotError } = await import('@delta/snapshots')
  try {
    const store = await openStore(join(runDirectory, 'snapshots'))
    const restored = await store.restore(snapshotId, 'files', into)
    await store.restore(snapshotId, 'artifacts', join(into, '.delta', 'context_artifacts'))
    return { ...restored, leftOut, leftOutCount }
  } catch (cause) {
    if (!isSnapshotError(cause)) throw cause
    const why =
      cause.code === 'ERR_SNAPSHOT_NO_GIT' ? 'git 2.25 or newer is needed to open snapshots.' : cause.message
    throw new EngineError('ERR_ENGINE_FORK_FILES', why, {
      path: runDirectory,
      wayOut: 'without_files',
      cause,
    })
  }
}

/** Copies the snapshots that the inherited events name. Through links, which may lead to those of others, nothing is copied. */
export async function copySnapshots(
  runDirectory: string,
  forkDirectory: string,
  { sync }: { sync?: boolean | undefined },
): Promise<void> {
  const from = join(runDirectory, 'snapshots')
  if (!lstatSync(from, { throwIfNoEntry: false })?.isDirectory()) return
  const { openStore, isSnapshotError } = await import('@delta/snapshots')
  const store = await openStore(from, { sync })
  await store.copyTo(join(forkDirectory, 'snapshots')).catch((error: unknown) => {
    if (!isSnapshotError(error) || error.code !== 'ERR_SNAPSHOT_DAMAGED') throw error
  })
}
