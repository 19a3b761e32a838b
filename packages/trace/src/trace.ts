import { journalPath, watchAnswers } from '@delta/journal/internal'
import type { StoredEvent } from '@delta/journal/runs'
import { followRun } from './follow-run.js'
import { completer, type PriceOptions } from './prices.js'
import { readableEvents } from './readable-events.js'
import { lastRecordOf, type SentRequest } from './sent-request.js'
import { readStepChanges, type StepChanges } from './step-changes.js'
import { type IndexedStep, indexSteps, type StepIndex } from './step-index.js'
import { type Step, stepsOf } from './steps.js'
import { readTracedRun, type TracedRun } from './traced-run.js'

/** Which steps. Default: all. */
export interface StepRange {
  /** The first iteration. */
  from?: number | undefined
  /** The last one. */
  to?: number | undefined
  /** How many, counted from the end. */
  last?: number | undefined
}

/** A run to read. Holds nothing open, and writes nothing. */
export interface Trace {
  /** As it stood when it was opened. A damaged run has a `problem`, and its steps end at the damage. */
  run: TracedRun
  /** Where its steps lie; made when it is first asked for. */
  readonly index: StepIndex
  /** The steps, in order. */
  steps(range?: StepRange): AsyncGenerator<Step>
  /** The steps, and each one again whenever it has grown, until the run ends or waits for input, or `signal` is aborted. */
  follow(signal: AbortSignal): AsyncGenerator<Step>
  /** The request of an iteration; undefined if none is recorded. */
  request(n: number): Promise<SentRequest | undefined>
  /** What an iteration did to the files of the workspace; null if the run has taken no snapshots. */
  changes(n: number): Promise<StepChanges | null>
}

/**
 * Opens a run to read it, while it is being written, too: then it is read up to its last whole line.
 *
 * @param from - The run's directory, or the run as `findRuns` gave it.
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`.
 * @example
 * const { run, steps } = await openTrace('.delta/20261120_093000_a1b2c3')
 * for await (const { n, request } of steps()) console.log(n, request?.cost)
 */
export async function openTrace(from: string | TracedRun, options: PriceOptions = {}): Promise<Trace> {
  const run = typeof from === 'string' ? await readTracedRun(from, options) : from
  const path = journalPath(run.directory)
  let index: StepIndex | undefined
  let changesOf: ReturnType<typeof readStepChanges> | undefined

  const indexNow = () => {
    index ??= indexSteps(path)
    return index
  }

  /** The start of the engine names the prices, and may lie before. */
  async function* eventsFrom({ offset, engine }: Beginning): AsyncGenerator<StoredEvent> {
    const complete = await completer(options)
    const answers = watchAnswers()
    let timestamp = ''
    if (engine < offset) for await (const start of readableEvents(path, engine)) if (complete(start)) break
    for await (const event of readableEvents(path, offset)) {
      if (event.seq > run.lastSeq) return // it was written since: the totals do not count it
      answers.add(event)
      timestamp = event.timestamp
      yield complete(event)
    }
    if (run.metadata.reason_code !== 'killed') return
    for (const [index, lost] of answers.lostIn(run.directory).entries())
      yield complete({ ...lost, seq: run.lastSeq + 1 + index, timestamp }) // as the next engine would
  }

  function grouped(events: AsyncIterable<StoredEvent> | Iterable<StoredEvent>): AsyncGenerator<Step> {
    const { children, model } = run
    return stepsOf(events, {
      runDirectory: run.directory,
      children,
      model,
      lastRecordOf: lastRecordOf(run.directory),
    })
  }

  async function* steps({ from = 1, to = Number.POSITIVE_INFINITY, last }: StepRange = {}) {
    const first = last === undefined ? from : Math.max(from, firstOfLast(indexNow(), { to, last }))
    const beginning = first <= 1 ? { offset: 0, engine: 0 } : stepBefore(indexNow(), first)
    for await (const step of grouped(eventsFrom(beginning))) {
      if (step.n > to) return
      if (step.n >= first) yield step
    }
  }

  async function request(n: number): Promise<SentRequest | undefined> {
    for await (const step of steps({ from: n, to: n })) return step.request
    return undefined
  }

  async function changes(n: number): Promise<StepChanges | null> {
    changesOf ??= readStepChanges(run.directory, run.lastSeq)
    return (await changesOf)?.(n) ?? null
  }

  /** Groups new events with those of the last iterations, which they may belong to. */
  async function* follow(signal: AbortSignal): AsyncGenerator<Step> {
    const complete = await completer(options)
    let held: StoredEvent[] = []
    for await (const events of followRun(run.directory, { signal })) {
      const isFirst = held.length === 0
      held.push(...events.map(complete))
      const grown = Math.min(...events.map((event) => iterationOf(event) ?? Number.POSITIVE_INFINITY))
      const since = Math.min(...events.map(({ seq }) => seq))
      let last = 0
      for await (const step of grouped(held)) {
        if (isFirst || step.n >= grown || step.said.some(({ seq }) => seq >= since)) yield step
        last = step.n
      }
      held = held.slice(
        Math.max(
          0,
          held.findIndex((event) => (iterationOf(event) ?? 0) >= last - 2),
        ),
      )
    }
  }

  return {
    run,
    get index() {
      return indexNow()
    },
    steps,
    follow,
    request,
    changes,
  }
}

function iterationOf(event: StoredEvent): number | undefined {
  const { iteration } = event as { iteration?: unknown }
  return typeof iteration === 'number' ? iteration : undefined
}

function firstOfLast({ steps }: StepIndex, { to, last }: { to: number; last: number }): number {
  const wanted = steps.filter(({ n }) => n <= to)
  return last === 0 ? Number.POSITIVE_INFINITY : (wanted.at(-last)?.n ?? 1)
}

type Beginning = Pick<IndexedStep, 'offset' | 'engine'>

/** The step before may hold what is said before this one. */
function stepBefore({ steps }: StepIndex, n: number): Beginning {
  const index = steps.findIndex((step) => step.n >= n)
  return steps[index === -1 ? steps.length - 1 : index - 1] ?? { offset: 0, engine: 0 }
}
