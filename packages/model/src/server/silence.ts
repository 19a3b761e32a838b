import { setMaxListeners } from 'node:events'

const LONGEST_TIMER_MS = 2 ** 31 - 1
const HURRIED_MS = 1000

export interface SilenceWatch {
  /** Aborts when the caller's signal does, or when nothing was heard for too long. */
  readonly signal: AbortSignal
  readonly timedOut: boolean
  /** Something came: the time starts anew. */
  heard(): void
  /** What was waited for has come: little time is left for the rest. */
  hurry(): void
  stop(): void
}

/** Joins a caller's signal with a limit on how long the other side may say nothing; 0 is no limit. */
export function watchSilence(timeoutMs: number, outer: AbortSignal | undefined): SilenceWatch {
  const controller = new AbortController()
  const abort = () => controller.abort()
  let timedOut = false
  const giveUp = () => {
    timedOut = true
    abort()
  }
  let timer = setTimeout(giveUp, Math.min(timeoutMs || LONGEST_TIMER_MS, LONGEST_TIMER_MS))
  if (outer) whenAborted(outer, abort)

  return {
    signal: controller.signal,
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
      outer?.removeEventListener('abort', abort)
    },
  }
}

function whenAborted(signal: AbortSignal, abort: () => void): void {
  // any number of requests may end with one signal; node takes the eleventh listener for a leak
  if (signal instanceof EventTarget) setMaxListeners(0, signal)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
}
