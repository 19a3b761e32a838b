import { setMaxListeners } from 'node:events'

const LONGEST_TIMER_MS = 2 ** 31 - 1
const HURRIED_MS = 1000

export interface SilenceWatch {
  /** Calls this when the caller's signal aborts, or when nothing was heard for too long; at once if that has been. */
  whenOver(end: () => void): void
  readonly timedOut: boolean
  /** Something came: the time starts anew. */
  heard(): void
  /** What was waited for has come: little time is left for the rest. */
  hurry(): void
  stop(): void
}

/**
 * Joins a caller's signal with a limit on how long the other side may say nothing; 0 is no limit. It calls back, which spares
 * each request an `AbortSignal` of its own and what node attaches to one.
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
  // any number of requests may end with one signal; node takes the eleventh listener for a leak
  if (signal instanceof EventTarget) setMaxListeners(0, signal)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
}
