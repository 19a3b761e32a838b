import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { isRunning, readProcessRecord } from './process-record.js'
import { listProcesses, type ProcessStat } from './processes.js'

/** Which call's processes to look for: by what its engine recorded, and by the environment they carry. */
export interface OrphanQuery {
  /** The file `recordProcess` wrote, if the engine got that far. */
  recordPath?: string
  /** The call's `DELTA_ACTION_ID` and `DELTA_RUN_DIR`; looked at on Linux only. */
  actionId?: string
  runDirectory?: string
}

const DEFAULT_GRACE_MS = 2000
const VANISH_MS = 500

/**
 * Finds what is left of a command whose engine died: the recorded process and its group, every
 * process that carries the call's environment, and all their descendants.
 *
 * @returns pids; never this process or an ancestor of it.
 */
export function findOrphans(query: OrphanQuery): number[] {
  const processes = listProcesses().filter(({ alive }) => alive)
  const own = ancestors(process.pid, processes)
  const record = query.recordPath === undefined ? undefined : readProcessRecord(query.recordPath)
  const leader = record && isRunning(record) ? record.pid : undefined
  const found = new Set(
    processes
      .filter(({ pid, group }) => group === leader || carriesEnvironment(pid, query))
      .map(({ pid }) => pid),
  )
  for (const pid of found) {
    for (const child of processes) if (child.parent === pid) found.add(child.pid) // a Set visits what is added
  }
  return [...found].filter((pid) => !own.has(pid))
}

/**
 * Ends what `findOrphans` finds: TERM, and after the grace KILL, looking anew each time since
 * processes that are told to end may start others.
 *
 * @returns every pid that was signalled; empty when nothing was left.
 */
export async function endOrphans(
  query: OrphanQuery,
  { graceMs = DEFAULT_GRACE_MS }: { graceMs?: number } = {},
): Promise<number[]> {
  const ended = new Set<number>()
  for (const [signal, withinMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', VANISH_MS],
  ] as const) {
    const deadline = performance.now() + withinMs
    for (let pauseMs = 2, left = findOrphans(query); left.length > 0; left = findOrphans(query)) {
      for (const pid of left) if (signal === 'SIGKILL' || !ended.has(pid)) send(pid, signal)
      for (const pid of left) ended.add(pid)
      if (performance.now() > deadline) break
      await wait(pauseMs)
      pauseMs = Math.min(pauseMs * 2, 50)
    }
  }
  return [...ended]
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ESRCH' && code !== 'EPERM') throw error // ended meanwhile, or another user's by now
  }
}

function ancestors(pid: number, processes: readonly ProcessStat[]): Set<number> {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]))
  const found = new Set<number>()
  for (let each: number | undefined = pid; each && !found.has(each); each = parents.get(each)) found.add(each)
  return found
}

function carriesEnvironment(pid: number, { actionId, runDirectory }: OrphanQuery): boolean {
  if (process.platform !== 'linux' || actionId === undefined || runDirectory === undefined) return false
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    return (
      variables.includes(`DELTA_ACTION_ID=${actionId}`) && variables.includes(`DELTA_RUN_DIR=${runDirectory}`)
    )
  } catch {
    return false // another user's, or ended meanwhile
  }
}
