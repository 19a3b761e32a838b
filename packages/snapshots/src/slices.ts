import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'

const SLICE_MS = 4

/** Divides long work into slices of 4 ms, so that nothing else in the process waits for it. */
export interface Slices {
  /** Resolves at once within a slice, otherwise after everything else that waits had its turn. Throws when the work was given up. */
  pause(): Promise<void> | undefined
}

/** @param check - Called when a slice begins; throws to give the work up. */
export function slices(check: () => void = () => {}): Slices {
  let end = performance.now() + SLICE_MS
  async function next(): Promise<void> {
    await setImmediate()
    end = performance.now() + SLICE_MS
    check()
  }
  return { pause: () => (performance.now() < end ? undefined : next()) }
}

const waiting = new Set<() => void>()
let free = availableParallelism()

/**
 * Runs `work` when one of the places is free. The process has as many as there are cores: a hundred runs share the disk in turn.
 *
 * @param signal - Ends the waiting: then `work` begins at once, to see that it was given up.
 */
export async function inTurn<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  let turn = () => {}
  if (free > 0) free -= 1
  else {
    const isCalled = new Promise<void>((resolve) => {
      turn = resolve
      waiting.add(turn)
    })
    await untilAborted(signal, isCalled)
    if (waiting.delete(turn)) return work()
  }
  try {
    return await work()
  } finally {
    const [next] = waiting
    if (next) {
      waiting.delete(next)
      next()
    } else free += 1
  }
}

/** Resolves when `promise` does, or when the signal comes. */
export function untilAborted(signal: AbortSignal, promise: Promise<void>): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      signal.removeEventListener('abort', end)
      resolve()
    }
    signal.addEventListener('abort', end)
    promise.then(end, end)
  })
}
