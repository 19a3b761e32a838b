import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { isJournalError } from '@delta/journal'
import { foldRun, journalPath, readFirstOwn } from '@delta/journal/internal'
import {
  type EngineStart,
  isKnownEvent,
  type RunSummary,
  runEventSchema,
  type StoredEvent,
} from '@delta/journal/runs'
import { isTotals } from './traced-run.js'

/** What the beginning and the end of a journal say of its run. */
export interface EndedRun
  extends Pick<
    RunSummary,
    'runId' | 'directory' | 'status' | 'metadata' | 'model' | 'lastIteration' | 'totals'
  > {
  start: EngineStart
}

/**
 * A run that its engine has let go, from its first line and its `ENGINE_END`: what this costs does not depend on its length. Its
 * model is that of its first start; damage between the two is not seen.
 *
 * @returns Undefined for any other run, and for one whose `ENGINE_END` does not say what it cost: that is read whole.
 */
export async function readEndedRun(directory: string): Promise<EndedRun | undefined> {
  const path = journalPath(directory)
  try {
    const start = readFirstOwn(path) as StoredEvent
    if (!isKnownEvent(start) || start.type !== 'ENGINE_START') return undefined
    const end = lastEvent(path)
    if (!end || !isKnownEvent(end) || end.type !== 'ENGINE_END' || !isTotals(end.totals)) return undefined
    if (end.final_iteration === undefined) return undefined
    const fold = foldRun()
    fold.add(start)
    const first = { type: 'USER_MESSAGE', content: start.task ?? '' } as const
    fold.add({ ...first, seq: start.seq + 1, timestamp: start.timestamp })
    fold.add(end)
    const { metadata, model } = fold.summary(directory, undefined)
    const { totals, final_iteration: lastIteration } = end
    return {
      runId: basename(directory),
      directory,
      status: end.status,
      metadata: { ...metadata, initial_message: start.task ?? null, iterations: lastIteration, totals },
      model,
      lastIteration,
      totals,
      start,
    }
  } catch (error) {
    if (isJournalError(error)) return undefined // reading all of it says why
    throw error
  }
}

/** What the last line of an engine holds is some hundred bytes; reading more of a tail would parse events that nobody asked for. */
const LAST_BYTES = 1 << 14

/** Undefined if the last line is longer, or not an event of today. */
function lastEvent(path: string): StoredEvent | undefined {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const bytes = Buffer.alloc(Math.min(size, LAST_BYTES))
    readSync(file, bytes, 0, bytes.length, size - bytes.length)
    const start = bytes.lastIndexOf('\n', -2) + 1
    if (start === 0 || bytes.at(-1) !== NEWLINE) return undefined
    const event: unknown = JSON.parse(bytes.toString('utf8', start))
    const result = runEventSchema['~standard'].validate(event)
    return 'issues' in result ? undefined : (event as StoredEvent)
  } catch {
    return undefined // reading all of it says why
  } finally {
    closeSync(file)
  }
}

const NEWLINE = 10

/** What changes when something is written to a run; undefined when it has no journal. */
export function stateOfJournal(directory: string): string | undefined {
  const { size, mtimeMs, ino } = statSync(journalPath(directory), { throwIfNoEntry: false }) ?? {}
  return size === undefined ? undefined : `${ino} ${size} ${mtimeMs}`
}
