import { isJournalError, type JournalTail, readTail } from '@delta/journal'
import { journalPath, readFirstOwn, watchAnswers } from '@delta/journal/internal'
import { type ActionResult, runEventSchema, type StoredEvent } from '@delta/journal/runs'
import { completer, type PriceOptions } from './prices.js'
import { readableEvents } from './readable-events.js'
import { lastRecordOf, type SentRequest } from './sent-request.js'
import { type IndexedStep, indexSteps, type StepIndex } from './step-index.js'
import { type Step, stepsOf } from './steps.js'
import type { ChildRun } from './traced-run.js'

/** Which steps. Default: all. */
export interface StepRange {
  /** The first iteration. */
  from?: number | undefined
  /** The last one. */
  to?: number | undefined
  /** How many, counted from the end. */
  last?: number | undefined
}

/** What the reader of a run's steps is told about it. */
export interface ReadRun {
  directory: string
  /** The number of the last event that counts. */
  lastSeq: number
  /** The model that the run names. */
  model: string | null
  /** True when no process writes it, and it has no ENGINE_END. */
  isKilled: boolean
  /** The runs that a call started. */
  childrenOf(result: ActionResult): ChildRun[]
}

/** The steps of a run, any of which is read without those before it. */
export interface StepReader {
  /** Where the steps lie; made when it is first asked for. */
  readonly index: StepIndex
  /** The steps, in order. */
  steps(range?: StepRange): AsyncGenerator<Step>
  /**
   * The last steps, read backwards from the end of the journal: what that costs does not depend on its length. None of a damaged
   * one.
   */
  end(count: number): Promise<RunEnd>
  /** For the number of the start of an engine: the start before it, and the event before it. Undefined where there is none. */
  beforeStart(seq: number): Promise<[start: StoredEvent | undefined, event: StoredEvent | undefined]>
  /** The events of a step, with those around it. */
  eventsNear(n: number): AsyncGenerator<StoredEvent>
  /** The request of an iteration; undefined if none is recorded. */
  request(n: number): Promise<SentRequest | undefined>
  /** Groups events of the run into steps. */
  grouped(events: AsyncIterable<StoredEvent> | Iterable<StoredEvent>): AsyncGenerator<Step>
}

/** The end of a run. */
export interface RunEnd {
  /** Those of the steps, and at least the ones of the step before. */
  events: StoredEvent[]
  steps: Step[]
  /** True when there are no others before them. */
  hasAll: boolean
}

/** Reads steps of a run up to its last whole line, or to where it is damaged. Nothing is read until it is asked for. */
export function stepReader(run: ReadRun, options: PriceOptions = {}): StepReader {
  const path = journalPath(run.directory)
  let index: StepIndex | undefined

  const indexNow = () => {
    index ??= indexSteps(path)
    return index
  }

  /** The start of the engine names the prices, and may lie before. */
  async function* eventsFrom({ offset, engine }: Beginning): AsyncGenerator<StoredEvent> {
    const complete = await completer(options)
    if (engine < offset) for await (const start of readableEvents(path, engine)) if (complete(start)) break
    yield* upToEnd(readableEvents(path, offset), complete)
  }

  async function* upToEnd(
    events: AsyncIterable<StoredEvent> | Iterable<StoredEvent>,
    complete: (event: StoredEvent) => StoredEvent,
  ): AsyncGenerator<StoredEvent> {
    const answers = watchAnswers()
    let timestamp = ''
    for await (const event of events) {
      if (event.seq > run.lastSeq) return // it was written since: the totals do not count it
      answers.add(event)
      timestamp = event.timestamp
      yield complete(event)
    }
    if (!run.isKilled) return
    for (const [index, lost] of answers.lostIn(run.directory).entries())
      yield complete({ ...lost, seq: run.lastSeq + 1 + index, timestamp }) // as the next engine would
  }

  function grouped(events: AsyncIterable<StoredEvent> | Iterable<StoredEvent>): AsyncGenerator<Step> {
    const { directory, model, childrenOf } = run
    return stepsOf(events, {
      runDirectory: directory,
      childrenOf,
      model,
      lastRecordOf: lastRecordOf(directory),
    })
  }

  function eventsNear(n: number): AsyncGenerator<StoredEvent> {
    return eventsFrom(n <= 1 ? { offset: 0, engine: 0 } : stepBefore(indexNow(), n))
  }

  async function beforeStart(seq: number): Promise<[StoredEvent | undefined, StoredEvent | undefined]> {
    const at = async (offset: number | undefined) => {
      if (offset === undefined) return undefined
      for await (const event of readableEvents(path, offset)) return event
      return undefined
    }
    const { engines } = indexNow()
    for (const [position, { offset, before }] of engines.entries()) {
      if ((await at(offset))?.seq !== seq) continue
      return [await at(engines[position - 1]?.offset), await at(before)]
    }
    return [undefined, undefined]
  }

  async function* steps({ from = 1, to = Number.POSITIVE_INFINITY, last }: StepRange = {}) {
    const first = last === undefined ? from : Math.max(from, firstOfLast(indexNow(), { to, last }))
    for await (const step of grouped(eventsNear(first))) {
      if (step.n > to) return
      if (step.n >= first) yield step
    }
  }

  async function end(count: number): Promise<RunEnd> {
    const wanted = { iterations: count + 1, schema: runEventSchema }
    const { events, complete: isComplete } = await readTail(path, wanted).catch(nothingOfDamaged)
    const complete = await completer(options)
    const first = isComplete ? undefined : readFirstOwn(path)
    if (first) complete(first as StoredEvent)
    const all: Step[] = []
    for await (const step of grouped(upToEnd(events, complete))) all.push(step)
    const hasAll = isComplete && all.length <= count
    return { events, steps: hasAll ? all : all.slice(-count), hasAll }
  }

  async function request(n: number): Promise<SentRequest | undefined> {
    for await (const step of steps({ from: n, to: n })) return step.request
    return undefined
  }

  return {
    get index() {
      return indexNow()
    },
    steps,
    end,
    beforeStart,
    eventsNear,
    request,
    grouped,
  }
}

function firstOfLast({ steps }: StepIndex, { to, last }: { to: number; last: number }): number {
  const wanted = steps.filter(({ n }) => n <= to)
  return last === 0 ? Number.POSITIVE_INFINITY : (wanted.at(-last)?.n ?? 1)
}

/** Reading from the beginning names the damage. */
function nothingOfDamaged(error: unknown): JournalTail<StoredEvent> {
  if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_CORRUPT') throw error
  return { events: [], complete: false }
}

type Beginning = Pick<IndexedStep, 'offset' | 'engine'>

/** The step before may hold what is said before this one. */
function stepBefore({ steps }: StepIndex, n: number): Beginning {
  const index = steps.findIndex((step) => step.n >= n)
  return steps[index === -1 ? steps.length - 1 : index - 1] ?? { offset: 0, engine: 0 }
}
