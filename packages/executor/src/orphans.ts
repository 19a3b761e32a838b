import { closeSync, constants, ftruncateSync, openSync, writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import {
  environmentOf,
  listProcesses,
  type ProcessInfo,
  processStart,
  readIfThere,
  readProcess,
  thisMachine,
} from '@delta/durable'
import { callAbove } from './environment.js'
import { ExecutorError } from './errors.js'

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
  const { graceMs = DEFAULT_GRACE_MS } = options
  const seen = new Map<number, string>()
  await signalUntilGone(query, seen, 'SIGTERM', graceMs)
  await signalUntilGone(query, seen, 'SIGKILL', VANISH_MS)
  return [...seen.keys()]
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
  const { recordPath, actionId, runDirectory, hookDirectories = [] } = query
  if ([recordPath, actionId, runDirectory, ...hookDirectories].includes('')) {
    // it would be found in processes that have nothing to do with us, and it is decided here who is killed
    const message = 'The query holds an empty text.\nLeave out what is not known.'
    throw new ExecutorError('ERR_EXECUTOR_USAGE', message)
  }
  const processes = listProcesses().filter(({ alive }) => alive)
  const own = ancestors(process.pid, processes)
  const record = recordPath === undefined ? undefined : readProcessRecord(recordPath)
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

/** Who a running process is, so that it is recognised after a crash, a reboot or a reuse of its pid. */
export interface ProcessRecord {
  pid: number
  /** As the system has it: clock ticks since the start of the machine on Linux, a date on macOS. Only to be compared. */
  start_time: string
  /** Differs after every start of the machine. */
  boot_id: string
  /** Which numbering of processes the pid belongs to: a container has its own. */
  pid_namespace?: string
}

/** Who a running command is, as the text of the file in which `findOrphans` looks: one JSON object, and a line end. */
export function describeProcess(pid: number): string {
  const { bootId: boot_id, pidNamespace: pid_namespace } = thisMachine()
  const start_time = readProcess(pid)?.startTime ?? ''
  return `${JSON.stringify({ pid, start_time, boot_id, pid_namespace } satisfies ProcessRecord)}\n`
}

/**
 * Writes down who a running command is (0600), for `findOrphans`.
 * Not synced: a command whose record was lost is still found by its environment, on Linux.
 *
 * A file that is there is written in place, so that whoever made it has reserved the room: by now the command runs, and
 * may have filled the disk.
 */
export function recordProcess(path: string, pid: number): void {
  const bytes = Buffer.from(describeProcess(pid))
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK, 0o600)
  try {
    writeSync(descriptor, bytes, 0, bytes.length, 0)
    ftruncateSync(descriptor, bytes.length)
  } finally {
    closeSync(descriptor)
  }
}

/** Undefined when there is no record, or only half of one, or one of the system's first process, whose group is everybody. */
export function readProcessRecord(path: string): ProcessRecord | undefined {
  try {
    const text = readIfThere(path)?.toString() ?? ''
    const { pid, start_time, boot_id, pid_namespace } = JSON.parse(text) as Partial<ProcessRecord>
    if (typeof pid !== 'number' || pid <= 1) return undefined
    if (typeof start_time !== 'string' || typeof boot_id !== 'string') return undefined
    return { pid, start_time, boot_id, ...(typeof pid_namespace === 'string' && { pid_namespace }) }
  } catch {
    return undefined // torn: the crash came first; or a command put something else there
  }
}

/** True while the process of a record runs; another process with its pid does not count. */
export function isRunning({ pid, start_time, boot_id, pid_namespace }: ProcessRecord): boolean {
  const { bootId, pidNamespace } = thisMachine()
  if (boot_id !== bootId || (pid_namespace ?? pidNamespace) !== pidNamespace) return false
  return processStart(pid) === start_time
}
