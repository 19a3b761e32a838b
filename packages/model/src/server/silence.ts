import { setMaxListeners } from 'node:events'

const LONGEST_TIMER_MS = 2 ** 31 - 1
const HURRIED_MS = 1000

export interface SilenceWatch {
  /** Calls `end` when the caller's signal aborts or the silence lasts too long; at once if either has already happened. */
  whenOver(end: () => void): void
  readonly timedOut: boolean
  /** Something came: the time starts again. */
  heard(): void
  /** The answer is complete: the rest gets little time. */
  hurry(): void
  stop(): void
}

/**
 * Joins a caller's signal with a limit on how long the other side may say nothing; 0 is no limit. It uses a
 * callback, which is cheaper than an `AbortSignal` for each request.
 */
export function watchSilence(timeoutMs: number, outer: AbortSignal | undefined): SilenceWatch {
  let isOver = false
  let timedOut = false
  let end: (() => void) | undefined
  const finish = () => {
    isOver = true
    end?.()
  }
  const giveUp = () => {
    timedOut = true
    finish()
  }
  let timer = setTimeout(giveUp, Math.min(timeoutMs || LONGEST_TIMER_MS, LONGEST_TIMER_MS))
  if (outer) whenAborted(outer, finish)

  return {
    whenOver(callback) {
      end = callback
      if (isOver) callback()
    },
    get timedOut() {
      return timedOut
    },
    heard: () => void timer.refresh(),
    hurry: () => {
      clearTimeout(timer)
      timer = setTimeout(giveUp, HURRIED_MS)
    },
    stop: () => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', finish)
    },
  }
}

function whenAborted(signal: AbortSignal, abort: () => void): void {
  // many requests may share one signal, and Node.js warns of a leak at the eleventh listener
  if (signal instanceof EventTarget) setMaxListeners(0, signal)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
}
