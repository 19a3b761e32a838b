import type { StoredEvent } from '@delta/journal/runs'
import { followRun } from './follow-run.js'
import { completer, type PriceOptions } from './prices.js'
import type { SentRequest } from './sent-request.js'
import { readStepChanges, type StepChanges } from './step-changes.js'
import type { StepIndex } from './step-index.js'
import { type StepRange, stepReader } from './step-reader.js'
import type { Step } from './steps.js'
import { readTracedRun, type TracedRun } from './traced-run.js'

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
  const { lastSeq, directory, model, children, metadata } = run
  const isKilled = metadata.reason_code === 'killed'
  const childrenOf = ({ action_id }: { action_id: string }) =>
    children.filter(({ actionId }) => actionId === action_id)
  const reader = stepReader({ directory, lastSeq, model, isKilled, childrenOf }, options)
  const { steps, request, grouped } = reader
  let changesOf: ReturnType<typeof readStepChanges> | undefined

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
      return reader.index
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
