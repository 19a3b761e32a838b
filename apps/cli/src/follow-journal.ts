import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readJournal } from '@delta/journal'
import { journalPath } from '@delta/journal/internal'
import { type RunSummary, readRun, runEventSchema, type StoredEvent } from '@delta/journal/runs'

const LOOK_AGAIN_MS = 200

/**
 * A run's events, including those still to come, until the run ends or waits for input. While no process writes it, because
 * it has not begun or its engine was killed, one may still take it up: `onLeft` is called once each time, and following
 * continues.
 */
export async function* followJournal(
  { directory }: RunSummary,
  { onLeft }: { onLeft: (run: RunSummary) => void },
): AsyncGenerator<StoredEvent> {
  const path = journalPath(directory)
  let fromOffset = 0
  let isLeft = false
  const read = async (): Promise<StoredEvent[]> => {
    const { events, endOffset } = await readJournal(path, { fromOffset, schema: runEventSchema })
    fromOffset = endOffset
    return events
  }
  for (;;) {
    const events = await read()
    yield* events
    if (events.length > 0) continue
    const now = await readRun(directory, { tolerant: true })
    const late = await read() // its last events may have come after the first read
    yield* late
    if (!mayGoOn(now)) return
    if (late.length > 0) continue
    const wasLeft = isLeft
    isLeft = now.owner?.alive !== true
    if (isLeft && !wasLeft) onLeft(now)
    await wait(LOOK_AGAIN_MS)
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
