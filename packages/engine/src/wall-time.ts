import type { Agent } from '@delta/config-loader'
import { wallTimeInWords } from '@delta/config-loader/internal'
import type { Run } from '@delta/journal/runs'
import { type Failure, raised } from './outcome.js'

/** How long a run may work: by its own limit, and until the deadline of the command that it is. */
export interface WallClock {
  /** Aborts when the run is stopped or a limit is reached, in which case the reason is the `Failure`. */
  readonly signal: AbortSignal
  /** When the run must have ended if nothing waits until then: milliseconds since 1970. */
  deadline(): number | undefined
  /** Lets a request take as long as it takes. */
  pause(): void
  /** To be called once the journal says how long the request waited. */
  resume(): void
  /**
   * For a hook that looks at an answer, which no event tells of yet. A limit that is already reached ends the run after that event:
   * an answer that has come is kept.
   *
   * @param waitedMs - How long its request waited.
   */
  resumeForHook(waitedMs: number | undefined): void
  /** Ends the watch. */
  close(): void
}

/** Node turns a longer timer into one of 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** While a run waits for a person, what is left stays the same, and is looked at this often at most. */
const SHORTEST_TIMER_MS = 10

/** Keeps no time itself: the journal says how long engines have worked on the run, also before this one. */
export function wallClock(
  run: Pick<Run, 'workedMs' | 'summary'>,
  { agent, host, signal }: { agent: Pick<Agent, 'limits'>; host: NodeJS.ProcessEnv; signal: AbortSignal },
): WallClock {
  const { wallTimeMs: own = Number.POSITIVE_INFINITY } = agent.limits ?? {}
  const { DELTA_PARENT_RUN: parent, DELTA_DEADLINE: given } = host
  const until = (parent && Number(given)) || Number.POSITIVE_INFINITY
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  /** How long the last request waited, until its event says it. Milliseconds. */
  let untold = 0

  function ownLeftMs(): number {
    return own - run.workedMs() + untold
  }

  function leftMs(): number {
    return Math.min(ownLeftMs(), until - Date.now())
  }

  function reached(): Failure {
    const isOwn = ownLeftMs() <= 0
    return {
      status: 'FAILED',
      reasonCode: 'limit_wall_time',
      reason: isOwn ? `limits.wall_time of ${wallTimeInWords(own)} is reached.` : OF_CALLER,
      iteration: run.summary().lastIteration || 1,
      ...(isOwn && raised('limit_wall_time', { wallTimeMs: own })),
    }
  }

  function pause(): void {
    clearTimeout(timer)
  }

  function watch(): void {
    pause()
    const left = leftMs()
    if (left <= 0) controller.abort(reached())
    else if (left !== Number.POSITIVE_INFINITY)
      timer = setTimeout(watch, Math.min(Math.max(left, SHORTEST_TIMER_MS), LONGEST_TIMER_MS)).unref()
  }

  function resume(): void {
    untold = 0
    watch()
  }

  function resumeForHook(waitedMs = 0): void {
    untold = waitedMs
    if (leftMs() > 0) watch()
  }

  /** The caller stops its commands with SIGTERM at the deadline: that is the limit, and no interruption. */
  function stop(): void {
    const isDeadline = signal.reason === 'SIGTERM' && Date.now() >= until
    controller.abort(isDeadline ? reached() : signal.reason)
  }

  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  return {
    signal: controller.signal,
    deadline: () => (leftMs() === Number.POSITIVE_INFINITY ? undefined : Math.floor(Date.now() + leftMs())),
    pause,
    resume,
    resumeForHook,
    close() {
      pause()
      signal.removeEventListener('abort', stop)
    },
  }
}

const OF_CALLER = 'The time of the run that started this one is up.'
