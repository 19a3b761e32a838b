import { setTimeout as wait } from 'node:timers/promises'
import { readProcess } from '@delta/durable'
import { systemCode } from './errors.js'
import { commandOf, processesWith, startOf } from './processes.js'
import type { BackgroundJob } from './store.js'

/** How long what runs in the background may take to end by itself. */
const GRACE_MS = 1000

/** The variable that marks every process a session started. */
export const SESSION_VARIABLE = 'DELTA_SESSION'

/**
 * Reads what `jobs -l` prints: `[1]+ 4711 Running    sleep 60 &`. Only what still runs counts. Shells other
 * than bash do not say what the command is.
 */
export function parseJobs(listing: string): BackgroundJob[] {
  return listing.split('\n').flatMap((line) => {
    const [, digits, command] = /^\[\d+\]\s*[+-]?\s+(\d+)\s+Running\s*(.*?)\s*&?$/.exec(line) ?? []
    const pid = Number(digits)
    const start = pid > 1 ? startOf(pid) : undefined
    return start === undefined ? [] : [{ pid, start, command: command || commandOf(pid) }]
  })
}

/** Those that have not ended yet. */
export function livingJobs(jobs: readonly BackgroundJob[]): BackgroundJob[] {
  return jobs.filter(({ pid, start }) => startOf(pid) === start)
}

/** What processes of a session's command carry in `SESSION_VARIABLE`. */
export function markOf(id: string, number: number): string {
  return `${id}:${number}`
}

/**
 * Ends what was left running, TERM first, then KILL: the jobs given, and on Linux every process that
 * carries such a mark, whatever group it moved to. False when there was nothing to end.
 */
export async function endProcesses(
  isMarked: (mark: string) => boolean,
  jobs: readonly BackgroundJob[] = [],
): Promise<boolean> {
  const find = () => [
    ...new Set([...livingJobs(jobs).map(({ pid }) => pid), ...processesWith(SESSION_VARIABLE, isMarked)]),
  ]
  let pids = find()
  const found = pids.length > 0
  for (const pid of pids) signalGroupOf(pid, 'SIGTERM')
  const deadline = performance.now() + GRACE_MS
  while (pids.length > 0 && performance.now() < deadline) {
    await wait(10)
    pids = find()
  }
  for (const pid of pids) signalGroupOf(pid, 'SIGKILL')
  return found
}

/** Signals the process's whole group, unless it is our own, or the first of the system: -1 is everybody. */
function signalGroupOf(pid: number, signal: NodeJS.Signals): void {
  const group = readProcess(pid)?.group ?? 1
  const target = group > 1 && group !== readProcess(process.pid)?.group ? -group : pid
  try {
    process.kill(target, signal)
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error // it ended by itself
  }
}
