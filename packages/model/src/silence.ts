import { setMaxListeners } from 'node:events'

export const LONGEST_TIMER_MS = 2 ** 31 - 1
const HURRIED_MS = 1000

export interface SilenceWatch {
  /** Aborts when the caller's signal does, or when the silence lasts too long. */
  readonly controller: AbortController
  readonly timedOut: boolean
  /** Part of the answer came: the time starts again. */
  heard(): void
  /** The answer is complete: the rest gets little time. */
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
  if (outer) {
    // many requests may share one signal, and Node.js warns of a leak at the eleventh listener
    if (outer instanceof EventTarget) setMaxListeners(0, outer)
    outer.addEventListener('abort', abort, { once: true })
    if (outer.aborted) abort()
  }
  return {
    controller,
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
