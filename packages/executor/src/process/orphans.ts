import { setTimeout as wait } from 'node:timers/promises'
import { environmentOf, listProcesses, type ProcessInfo } from '@delta/durable'
import { callAbove } from '../environment.js'
import { ExecutorError } from '../errors.js'
import { isRunning, readProcessRecord } from './process-record.js'

/** Which call's or hooks' processes to look for: by what its engine recorded, and by the environment they carry. */
export interface OrphanQuery {
  /** The file `recordProcess` wrote, if the engine got that far. */
  recordPath?: string | undefined
  /** The call's `DELTA_ACTION_ID` and `DELTA_RUN_DIR`; looked at on Linux only. */
  actionId?: string | undefined
  /** Absolute, as the command found it. */
  runDirectory?: string | undefined
  /** The `DELTA_HOOK_IO_PATH`s of hooks; looked at on Linux only. */
  hookDirectories?: readonly string[] | undefined
}

const DEFAULT_GRACE_MS = 2000
const VANISH_MS = 500

/**
 * Finds what is left of a command whose engine died: the recorded process and its group, every
 * process that carries the call's environment, and all their descendants.
 *
 * @returns pids; never this process or an ancestor of it.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: a text of the query is empty.
 */
export function findOrphans(query: OrphanQuery): number[] {
  checkQuery(query)
  return look(query, new Map()).map(({ pid }) => pid)
}

/**
 * Ends what `findOrphans` finds: TERM, and after the grace KILL, looking anew each time since
 * processes that are told to end may start others.
 *
 * @param options.graceMs - Time between TERM and KILL; default 2000.
 * @returns every pid that was signalled; empty when nothing was left.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: a text of the query is empty.
 */
export async function endOrphans(
  query: OrphanQuery,
  options: { graceMs?: number | undefined } = {},
): Promise<number[]> {
  checkQuery(query)
  const { graceMs = DEFAULT_GRACE_MS } = options
  const seen = new Map<number, string>()
  await signalUntilGone(query, seen, 'SIGTERM', graceMs)
  await signalUntilGone(query, seen, 'SIGKILL', VANISH_MS)
  return [...seen.keys()]
}

/** Decides who is killed: an empty text would be found in processes that have nothing to do with us. */
function checkQuery({ recordPath, actionId, runDirectory, hookDirectories = [] }: OrphanQuery): void {
  if (![recordPath, actionId, runDirectory, ...hookDirectories].includes('')) return
  throw new ExecutorError(
    'ERR_EXECUTOR_USAGE',
    'The query holds an empty text.\nLeave out what is not known.',
  )
}

/** TERM is sent once to each, KILL again and again; `seen` learns of everybody who was signalled. */
async function signalUntilGone(
  query: OrphanQuery,
  seen: Map<number, string>,
  signal: 'SIGTERM' | 'SIGKILL',
  withinMs: number,
): Promise<void> {
  const deadline = performance.now() + withinMs
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const left = look(query, seen)
    for (const { pid, startTime } of left) {
      if (signal === 'SIGKILL' || !seen.has(pid)) send(pid, signal)
      seen.set(pid, startTime)
    }
    if (left.length === 0 || performance.now() > deadline) return
    await wait(pauseMs)
  }
}

/**
 * One look at all processes. Those in `seen` (start times by pid) belong to the call also when
 * nothing shows it any more: a child whose parent has ended is adopted by another.
 */
function look(query: OrphanQuery, seen: ReadonlyMap<number, string>): ProcessInfo[] {
  const processes = listProcesses().filter(({ alive }) => alive)
  const own = ancestors(process.pid, processes)
  const record = query.recordPath === undefined ? undefined : readProcessRecord(query.recordPath)
  const leader = record && isRunning(record) ? record.pid : undefined
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

function carriesEnvironment(
  pid: number,
  { actionId, runDirectory, hookDirectories = [] }: OrphanQuery,
): boolean {
  const ofCall = actionId !== undefined && runDirectory !== undefined
  if (!ofCall && hookDirectories.length === 0) return false
  const { DELTA_ACTION_ID, DELTA_RUN_DIR, DELTA_CALLS, DELTA_HOOK_IO_PATH } = environmentOf(pid)
  return (
    (ofCall && DELTA_ACTION_ID === actionId && DELTA_RUN_DIR === runDirectory) ||
    (ofCall && DELTA_CALLS?.includes(`\n${callAbove(actionId, runDirectory)}`)) || // of an engine that is the call's
    (DELTA_HOOK_IO_PATH !== undefined && hookDirectories.includes(DELTA_HOOK_IO_PATH))
  )
}
