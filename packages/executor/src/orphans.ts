import { setTimeout as wait } from 'node:timers/promises'
import { processStart, readIfThere, replaceFile, thisMachine } from '@delta/durable'
import { environmentOf, listProcesses, type ProcessInfo } from '@delta/durable/internal'
import { callAbove } from './environment.js'
import { ExecutorError } from './errors.js'

/** Identifies processes that somebody left: by the record of a command, and by the environment they carry. */
export interface OrphanQuery {
  /** The file `recordProcess` wrote, if the engine got that far. */
  recordPath?: string | undefined
  /** The call's `DELTA_ACTION_ID` and `DELTA_RUN_DIR`; looked at on Linux only. */
  actionId?: string | undefined
  /** Absolute, as the command found it. */
  runDirectory?: string | undefined
  /** Variables, as [name, value], of which one in a process's environment is enough; looked at on Linux only. */
  variables?: readonly (readonly [name: string, value: string])[] | undefined
}

const DEFAULT_GRACE_MS = 2000
const VANISH_MS = 500

/**
 * Finds what is left of a command whose engine died: the recorded process and its group, every
 * process that carries the call's environment, and all their descendants.
 *
 * @returns pids; never this process or an ancestor of it.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: a string of the query is empty.
 */
export function findOrphans(query: OrphanQuery): number[] {
  return look(query, new Map()).map(({ pid }) => pid)
}

/**
 * Ends what `findOrphans` finds: TERM, and after the grace KILL. It looks again each time, since a process that gets TERM may
 * start others.
 *
 * @param options.graceMs - Time between TERM and KILL; default 2000.
 * @returns every pid that was signalled; empty when nothing was left.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: a string of the query is empty.
 */
export async function endOrphans(
  query: OrphanQuery,
  options: { graceMs?: number | undefined } = {},
): Promise<number[]> {
  const { graceMs = DEFAULT_GRACE_MS } = options
  const seen = new Map<number, string>()
  const areGone = await signalUntilGone(query, seen, 'SIGTERM', graceMs)
  if (!areGone) await signalUntilGone(query, seen, 'SIGKILL', VANISH_MS)
  return [...seen.keys()]
}

/** Sends TERM once to each process, KILL repeatedly; adds each to `seen`. False if some are left after the time. */
async function signalUntilGone(
  query: OrphanQuery,
  seen: Map<number, string>,
  signal: 'SIGTERM' | 'SIGKILL',
  withinMs: number,
): Promise<boolean> {
  const deadline = performance.now() + withinMs
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const left = look(query, seen)
    for (const { pid, startTime } of left) {
      if (signal === 'SIGKILL' || !seen.has(pid)) send(pid, signal)
      seen.set(pid, startTime)
    }
    if (left.length === 0) return true
    if (performance.now() > deadline) return false
    await wait(pauseMs)
  }
}

/**
 * Looks once at all processes. Those in `seen` (start times by pid) belong to the call even if nothing shows it any more: a
 * child whose parent has ended is adopted by another process.
 */
function look(query: OrphanQuery, seen: ReadonlyMap<number, string>): ProcessInfo[] {
  const { recordPath, actionId, runDirectory, variables = [] } = query
  if ([recordPath, actionId, runDirectory, ...variables.flat()].includes('')) {
    // it would match processes of others, which would be killed
    const message = 'The query holds an empty string.\nLeave out what is not known.'
    throw new ExecutorError('ERR_EXECUTOR_USAGE', message)
  }
  const record = recordPath === undefined ? undefined : readProcessRecord(recordPath)
  const leader = record && isRunning(record) ? record.pid : undefined
  const isKnownByRecordOnly = actionId === undefined && variables.length === 0
  if (isKnownByRecordOnly && leader === undefined && seen.size === 0) return [] // cheaper than a look at all processes
  const processes = listProcesses().filter(({ alive }) => alive)
  const own = ancestors(process.pid, processes)
  const found = new Set(
    processes.filter(
      (each) =>
        each.group === leader || seen.get(each.pid) === each.startTime || carriesEnvironment(each.pid, query),
    ),
  )
  for (const { pid } of found) {
    for (const child of processes) if (child.parent === pid) found.add(child) // a Set visits what is added
  }
  return [...found].filter(({ pid }) => !own.has(pid))
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ESRCH' && code !== 'EPERM') throw error // ended meanwhile, or another user's by now
  }
}

function ancestors(pid: number, processes: readonly ProcessInfo[]): Set<number> {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]))
  const found = new Set<number>()
  for (let each: number | undefined = pid; each && !found.has(each); each = parents.get(each)) found.add(each)
  return found
}

function carriesEnvironment(pid: number, { actionId, runDirectory, variables = [] }: OrphanQuery): boolean {
  const ofCall = actionId !== undefined && runDirectory !== undefined
  if (!ofCall && variables.length === 0) return false
  const environment = environmentOf(pid)
  const { DELTA_ACTION_ID, DELTA_RUN_DIR, DELTA_CALLS } = environment
  return (
    (ofCall && DELTA_ACTION_ID === actionId && DELTA_RUN_DIR === runDirectory) ||
    (ofCall && DELTA_CALLS?.includes(`\n${callAbove(actionId, runDirectory)}`)) || // of an engine that is the call's
    variables.some(([name, value]) => environment[name] === value)
  )
}

/** Identifies a running process after a crash, a reboot or a reuse of its pid. */
export interface ProcessRecord {
  pid: number
  /** Clock ticks since the start of the machine on Linux, a date on macOS. Only for comparison. */
  start_time: string
  /** Differs after every start of the machine. */
  boot_id: string
  /** The numbering of processes that the pid belongs to: a container has its own. */
  pid_namespace?: string
}

/**
 * Records a running command (0600) for `findOrphans`, in place of what the file held. Not synced: on Linux a command whose record
 * was lost is still found by its environment.
 */
export function recordProcess(path: string, pid: number): void {
  const { bootId: boot_id, pidNamespace: pid_namespace } = thisMachine()
  const start_time = processStart(pid) ?? ''
  const entry = { pid, start_time, boot_id, pid_namespace } satisfies ProcessRecord
  replaceFile(path, `${JSON.stringify(entry)}\n`, { sync: false })
}

/** Undefined without a record, for one that is not whole, and for one of the system's first process, whose group is every process. */
export function readProcessRecord(path: string): ProcessRecord | undefined {
  try {
    const text = readIfThere(path)?.toString() ?? ''
    const { pid, start_time, boot_id, pid_namespace } = JSON.parse(text) as Partial<ProcessRecord>
    if (typeof pid !== 'number' || pid <= 1) return undefined
    if (typeof start_time !== 'string' || typeof boot_id !== 'string') return undefined
    return { pid, start_time, boot_id, ...(typeof pid_namespace === 'string' && { pid_namespace }) }
  } catch {
    return undefined // torn by the crash, or a command put something else there
  }
}

/** True while the process of a record runs; false for another process with its pid. */
export function isRunning({ pid, start_time, boot_id, pid_namespace }: ProcessRecord): boolean {
  const { bootId, pidNamespace } = thisMachine()
  if (boot_id !== bootId || (pid_namespace ?? pidNamespace) !== pidNamespace) return false
  return processStart(pid) === start_time
}
