import { setImmediate as breathe } from 'node:timers/promises'
import { type JournalError, readJournal } from '@delta/journal'
import { foldRun, journalPath, readOwner } from '@delta/journal/internal'
import { type EngineStart, isKnownEvent, runEventSchema, type StoredEvent } from '@delta/journal/runs'
import { completer, type PriceOptions } from './prices.js'
import { readableEvents } from './readable-events.js'
import { indexSteps } from './step-index.js'
import { type ChildRun, placesIn, readTracedRun, recordedChildren, type TracedRun } from './traced-run.js'

/** A run that is read once, and then only what is added to it. */
export interface GrowingRun {
  /**
   * Reads what was added to its journal, up to the last whole line or to where it is damaged. Lets other work go on meanwhile.
   *
   * @throws {JournalError} `ERR_JOURNAL_READ`.
   */
  read(): Promise<void>
  /** What it was when it was last read, and its sub-agents as their callers recorded them. */
  summary(): Promise<TracedRun>
}

/** Watches a run. Nothing is held open. @param onEvent - Gets each event once, in order. */
export function growingRun(
  directory: string,
  { onEvent, ...prices }: PriceOptions & { onEvent?: (event: StoredEvent) => void } = {},
): GrowingRun {
  const path = journalPath(directory)
  const fold = foldRun()
  const children = new Map<string, ChildRun>()
  const starts: EngineStart[] = []
  let complete: ((event: StoredEvent) => StoredEvent) | undefined
  let damage: JournalError | undefined
  let lastSeq = 0
  let endOffset = 0

  function take(event: StoredEvent): void {
    lastSeq = Math.max(lastSeq, event.seq)
    const completed = complete?.(event) ?? event
    fold.add(completed)
    if (isKnownEvent(event) && event.type === 'ENGINE_START') starts.push(event)
    if (isKnownEvent(event) && event.type === 'ACTION_RESULT')
      for (const child of recordedChildren(event)) children.set(child.directory, child)
    onEvent?.(completed)
  }

  async function readAll(): Promise<void> {
    endOffset = indexSteps(path).bytes // what comes after it while the events are read is told apart by its number
    const reading = readableEvents(path)
    for (let count = 1; ; count++) {
      const { done, value } = await reading.next()
      if (done) {
        damage = value
        return
      }
      take(value)
      if (count % EVENTS_AT_ONCE === 0) await breathe()
    }
  }

  async function readMore(): Promise<void> {
    const found = await readJournal(path, { fromOffset: endOffset, schema: runEventSchema })
    endOffset = found.endOffset
    for (const event of found.events) if (event.seq > lastSeq) take(event)
  }

  return {
    async read() {
      const isFirst = complete === undefined
      complete ??= await completer(prices)
      if (isFirst) await readAll()
      else if (damage === undefined) await readMore()
    },
    async summary() {
      const { owner, problem: unreadable } = readOwner(directory, true)
      const isLeft = owner?.alive !== true && fold.lostAnswers(directory).length > 0
      const run = isLeft ? await readTracedRun(directory, prices) : fold.summary(directory, owner)
      const problem = unreadable ?? damage ?? run.problem
      return {
        ...run,
        ...(problem && { problem }),
        lastSeq,
        children: [...children.values()],
        places: placesIn(starts, directory),
      }
    },
  }
}

/** About half a megabyte. */
const EVENTS_AT_ONCE = 200
