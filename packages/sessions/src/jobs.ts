import { setTimeout as wait } from 'node:timers/promises'
import { systemCode } from './errors.js'
import { commandOf, groupOf, isSameProcess, processesWith, startOf } from './processes.js'
import type { BackgroundJob } from './store/metadata.js'

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
  return jobs.filter(({ pid, start }) => isSameProcess(pid, start))
}

/** What processes of a session's command carry in their environment: of one command, or of all. */
export function markOf(id: string, number?: number): string {
  return `${SESSION_VARIABLE}=${id}:${number === undefined ? '' : `${number}\0`}`
}

/**
 * Ends what was left running, TERM first, then KILL: the jobs given, and on Linux every process that
 * carries the mark, whatever group it moved to. False when there was nothing to end.
 */
export async function endProcesses(mark: string, jobs: readonly BackgroundJob[] = []): Promise<boolean> {
  const find = () => [...new Set([...livingJobs(jobs).map(({ pid }) => pid), ...processesWith(mark)])]
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
  const group = groupOf(pid) ?? 1
  const target = group > 1 && group !== groupOf(process.pid) ? -group : pid
  try {
    process.kill(target, signal)
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error // it ended by itself
  }
}
