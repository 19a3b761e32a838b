import type { ChildProcess } from 'node:child_process'
import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { endGroup } from '@delta/durable'
import type { Channels } from '../channels.js'
import type { StartError } from './start-error.js'

/** What ends a command that does not end by itself; see `CommandOptions`. */
interface CommandLimits {
  timeoutMs?: number | undefined
  maxOutputBytes?: number | undefined
  graceMs?: number | undefined
  signal?: AbortSignal | undefined
}

interface RunningCommand {
  child: ChildProcess
  pid: number
  channels: Channels
}

type StopReason = 'TIMEOUT' | 'ABORTED' | 'TOO_MUCH_OUTPUT'

/** How a command ended, or that it never began; by its `status`. */
export type Ending =
  | { status: 'EXITED'; exitCode: number; signal: null; startError?: undefined }
  | { status: 'SIGNALED'; exitCode: null; signal: NodeJS.Signals; startError?: undefined }
  | Stopped
  | { status: 'NOT_STARTED'; exitCode: null; signal: null; startError: StartError }

/** It was ended, and did so with an exit code or by a signal; with neither if it was aborted before it began. */
interface Stopped {
  status: StopReason
  exitCode: number | null
  signal: NodeJS.Signals | null
  startError?: undefined
}

const DEFAULT_GRACE_MS = 2000
/** Whoever prints too much may go on printing until it is killed. */
const PRINTER_GRACE_MS = 250
/** How much later than a command's end a signal that was sent before it may be heard. */
const SIGNAL_DELAY_MS = 50
const MEASURED_EVERY_MS = 250
/** Node turns a longer timer into one of a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Waits for the end of a command, and brings it about when a limit is reached or the caller aborts. */
export function untilEnded(
  { child, pid, channels }: RunningCommand,
  options: CommandLimits,
): Promise<Ending> {
  return new Promise((resolve) => {
    let stopping: { status: StopReason; done: Promise<void> } | undefined
    const { graceMs = DEFAULT_GRACE_MS } = options
    const stop = (status: StopReason) => {
      const withinMs = status === 'TOO_MUCH_OUTPUT' ? Math.min(graceMs, PRINTER_GRACE_MS) : graceMs
      stopping ??= { status, done: endGroup(pid, withinMs) }
    }
    const onAbort = () => stop('ABORTED')
    const { signal: abort } = options
    const forgetLimits = watchLimits(channels, options, stop)
    if (abort) whenAborted(abort, onAbort)

    child.once('exit', async (exitCode, signal) => {
      forgetLimits()
      if (abort && !stopping && (signal || (exitCode ?? 0) > 128)) await abortedSoon(abort)
      abort?.removeEventListener('abort', onAbort)
      await stopping?.done
      if (stopping) resolve({ status: stopping.status, exitCode, signal })
      else if (signal) resolve({ status: 'SIGNALED', exitCode: null, signal })
      else resolve({ status: 'EXITED', exitCode: exitCode as number, signal: null }) // node gives one of the two
    })
  })
}

/** Output is measured now and then: the command writes it by itself, and no limit of the system's covers just these two files. */
function watchLimits(
  channels: Channels,
  { timeoutMs = 0, maxOutputBytes = 0 }: CommandLimits,
  stop: (status: StopReason) => void,
): () => void {
  const hasTime = timeoutMs > 0 && timeoutMs <= LONGEST_TIMER_MS
  const timer = hasTime ? setTimeout(stop, timeoutMs, 'TIMEOUT') : undefined
  const measure = () => channels.writtenBytes() > maxOutputBytes && stop('TOO_MUCH_OUTPUT')
  const measuring = maxOutputBytes > 0 ? setInterval(measure, MEASURED_EVERY_MS) : undefined
  return () => {
    clearTimeout(timer)
    clearInterval(measuring)
  }
}

/**
 * Whoever stops a whole tree of processes signals this one and the command at once, and of the two the command's end may be
 * heard first: this process has several threads, and the signal may have gone to one that has to be woken.
 */
async function abortedSoon(abort: AbortSignal): Promise<void> {
  const given = wait(SIGNAL_DELAY_MS, undefined, { signal: abort })
  await given.catch(() => undefined) // aborted: that is what it waited for
}

function whenAborted(signal: AbortSignal, onAbort: () => void): void {
  // any number of commands may end with one signal; node takes the eleventh listener for a leak
  if (signal instanceof EventTarget) setMaxListeners(0, signal)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
}
