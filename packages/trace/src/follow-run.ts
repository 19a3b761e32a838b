import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readJournal } from '@delta/journal'
import { journalPath } from '@delta/journal/internal'
import { type RunSummary, readRun, runEventSchema, type StoredEvent } from '@delta/journal/runs'

const LOOK_AGAIN_MS = 200

/** How a run is followed. */
export interface FollowOptions {
  /** Where to begin in the journal. Bytes; default: 0. */
  fromOffset?: number | undefined
  /** Called once each time no process writes the run, but one may still take it up. */
  onLeft?: ((run: RunSummary) => void) | undefined
  /** Ends it. */
  signal?: AbortSignal | undefined
}

/**
 * A run's events, including those still to come, in the pieces that they are found in, until the run ends or waits for input.
 * While no process writes it, because it has not begun or its engine was killed, one may still take it up: then it is watched.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
 */
export async function* followRun(
  directory: string,
  { fromOffset = 0, onLeft, signal }: FollowOptions = {},
): AsyncGenerator<StoredEvent[]> {
  const path = journalPath(directory)
  let isLeft = false
  const read = async (): Promise<StoredEvent[]> => {
    const { events, endOffset } = await readJournal(path, { fromOffset, schema: runEventSchema })
    fromOffset = endOffset
    return events
  }
  while (!signal?.aborted) {
    const events = await read()
    if (events.length > 0) {
      yield events
      continue
    }
    const now = await readRun(directory, { tolerant: true })
    const late = await read() // its last events may have come after the first read
    if (late.length > 0) yield late
    if (!mayGoOn(now)) return
    if (late.length > 0) continue
    const wasLeft = isLeft
    isLeft = now.owner?.alive !== true
    if (isLeft && !wasLeft) onLeft?.(now)
    await wait(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined)
  }
}

/**
 * An engine that was killed wrote no `ENGINE_END`, and `delta continue` appends to the same journal. Not so for an
 * old layout, which had no leases: that run continues in another directory.
 */
function mayGoOn(run: RunSummary): boolean {
  if (run.status === 'RUNNING') return true
  if (run.status === 'EMPTY') return mayBegin(run)
  const wasLeft = run.status === 'INTERRUPTED' && run.metadata.end_time === null && run.problem === undefined
  return wasLeft && existsSync(join(run.directory, 'lease'))
}

/** Whether an empty run may still begin. If its metadata exist it has begun, and its journal was deleted. */
export function mayBegin({ owner, directory, problem }: RunSummary): boolean {
  if (owner?.alive) return true
  return problem === undefined && !existsSync(join(directory, 'metadata.json'))
}
