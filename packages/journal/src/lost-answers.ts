import { join } from 'node:path'
import { asReadError } from './errors.js'
import { type ErrorEvent, isKnownEvent, isToday, type StoredEvent } from './events.js'
import { iterationOf, readRecord, recordsIn } from './records.js'
import { runPaths } from './run-paths.js'

/** An `ERROR` that the journal does not hold yet. */
export type LostAnswer = Omit<ErrorEvent, 'seq' | 'timestamp'>

/** Knows which answers the events of a run name. */
export interface AnswerWatch {
  /** Takes the events in order. */
  add(event: StoredEvent): void
  /**
   * The answers that came and that no event names: a kill, a signal or a hook ended an engine before its `THOUGHT`. They were paid
   * for, at the price that their record says; one of an engine before 0.2 says none.
   *
   * @returns Each as the `ERROR` by which the next engine names it, oldest first.
   * @throws {JournalError} `ERR_JOURNAL_READ`
   */
  lostIn(runDirectory: string): LostAnswer[]
}

/** Begins with a run without events. */
export function watchAnswers(): AnswerWatch {
  let lastIteration = 0
  /** The records of the last iteration and of those after it. */
  const named = new Map<string, number>()

  function add(event: StoredEvent): void {
    if (!isKnownEvent(event) || (event.type !== 'THOUGHT' && event.type !== 'ERROR')) return
    if (event.type === 'THOUGHT' && event.iteration > lastIteration) {
      lastIteration = event.iteration
      for (const [ref, iteration] of named) if (iteration < lastIteration) named.delete(ref)
    }
    const { llm_invocation_ref: ref } = Object(event.type === 'THOUGHT' ? event : event.error_details)
    if (typeof ref === 'string') named.set(ref, event.iteration ?? lastIteration)
  }

  function lostIn(runDirectory: string): LostAnswer[] {
    const { invocations } = runPaths(runDirectory)
    try {
      const names = recordsIn(invocations).filter((name) => iterationOf(name) >= lastIteration)
      return names.flatMap((name) => {
        const ref = `io/invocations/${name}`
        return named.has(ref) ? [] : lostAnswer(ref, readRecord(join(invocations, name)))
      })
    } catch (error) {
      throw asReadError(error, invocations)
    }
  }

  return { add, lostIn }
}

/** Nothing for a request that was not answered, or from another run's record: that run has paid. */
function lostAnswer(ref: string, record: Record<string, unknown>): LostAnswer[] {
  if (record.response === undefined || record.replayed === true) return []
  const iteration = iterationOf(ref)
  const lost = {
    type: 'ERROR' as const,
    iteration,
    error_message: `The answer of iteration ${iteration} was lost when the engine ended. It was paid for.`,
    error_details: { code: 'lost_answer', llm_invocation_ref: ref },
    recoverable: true,
    tokens: null, // of an answer that nobody counted, too
  }
  const { model = Object(record.response).model } = record
  const told = Object.entries({ ...record, model }).filter(([field]) => PAID.has(field))
  const priced = { ...lost, ...Object.fromEntries(told) }
  return [isToday({ ...priced, seq: 1, timestamp: '' }) ? priced : lost] // a tool may have written it
}

/** What a record says as its `THOUGHT` would. */
const PAID = new Set(['usage', 'tokens', 'model', 'provider', 'price', 'waited_ms', 'request_bytes'])
