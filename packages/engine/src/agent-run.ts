import { EventEmitter, on } from 'node:events'
import type { EngineOptions } from './options.js'
import type { RunResult } from './outcome.js'
import type { EngineEvent } from './run-state.js'

/**
 * A run that goes on: a promise of its result, whose events can be listened to.
 *
 * `for await (const event of run)` gets the events from then on. They queue up while they are not read; two loops each get all.
 * The loop ends with the run, or throws what the promise is rejected with. `break` ends the listening, not the run.
 */
export interface AgentRun<RunId = string> extends Promise<RunResult>, AsyncIterable<EngineEvent> {
  readonly runId: RunId
  /** Interrupts the run, and resolves when it has ended: `INTERRUPTED`, unless it had ended by itself. */
  stop(): Promise<RunResult>
}

type Listening = Pick<EngineOptions, 'signal' | 'onEvent'>

/** Starts a run with its listeners, and a signal that also `stop` aborts. */
export function agentRun<RunId, Options extends Listening>(
  runId: RunId,
  options: Options,
  start: (options: Options) => Promise<RunResult>,
): AgentRun<RunId> {
  const listeners = new Set<EventEmitter>()
  const { controller, release } = stoppable(options.signal)
  const result = start({
    ...options,
    signal: controller.signal,
    onEvent: (event) => {
      for (const listener of listeners) listener.emit('event', event)
      options.onEvent?.(event)
    },
  }).finally(release)
  return Object.assign(result, {
    runId,
    stop: () => {
      controller.abort('stop')
      return result
    },
    [Symbol.asyncIterator]: () => listen(result, listeners),
  })
}

/** A controller that aborts with the signal, for as long as it is not released: a signal may outlive many runs. */
function stoppable(signal: AbortSignal | undefined) {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  return { controller, release: () => signal?.removeEventListener('abort', abort) }
}

/** The events until the result. Whoever listens is told of an error, so the promise alone does not report it as unhandled. */
function listen(result: Promise<RunResult>, listeners: Set<EventEmitter>): AsyncIterator<EngineEvent> {
  const listener = new EventEmitter()
  const events = on(listener, 'event', { close: ['end'] })
  const end = (name: 'end' | 'error', error?: unknown) => {
    listeners.delete(listener)
    if (listener.listenerCount(name) > 0) listener.emit(name, error)
  }
  listeners.add(listener)
  result.then(
    () => end('end'),
    (error: unknown) => end('error', error),
  )
  return {
    next: async () => {
      const { done, value } = await events.next()
      return done ? { done, value: undefined } : { done: false, value: value[0] }
    },
    return: async () => {
      listeners.delete(listener)
      await events.return?.()
      return { done: true, value: undefined }
    },
  }
}
