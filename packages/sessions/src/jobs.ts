import { readdirSync, readFileSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  createFile,
  environmentOf,
  listProcesses,
  processStart,
  readProcess,
  thisMachine,
} from '@delta/durable'
import { systemCode } from './errors.js'
import type { BackgroundJob, SessionPaths } from './store.js'

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

/** What processes of a session's command carry in `SESSION_VARIABLE`; without a number, what all of its marks begin with. */
export function markOf(id: string, number?: number): string {
  return number === undefined ? `${id}:` : `${id}:${number}:`
}

/**
 * Ends what was left running, TERM first, then KILL: the jobs given, and on Linux every process that
 * carries a mark that begins so, whatever group it moved to. False when there was nothing to end.
 */
export async function endProcesses(mark: string, jobs: readonly BackgroundJob[] = []): Promise<boolean> {
  const find = () => [...new Set([...livingJobs(jobs).map(({ pid }) => pid), ...markedProcesses(mark)])]
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

/**
 * Tells a process from every other with the same number, a later one or one of another container: its start time, as the
 * system counts, and after an `@` within which it has its number. Undefined when there is no such process.
 */
function startOf(pid: number): string | undefined {
  const start = processStart(pid)
  const { bootId, pidNamespace } = thisMachine()
  return start === undefined ? undefined : `${start}@${bootId}${pidNamespace}`
}

/** What a process was started as, as far as that can be seen. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return '' // it ended meanwhile, or this is not Linux
  }
}

/** Every living process whose mark begins so. Linux only, elsewhere none. */
function markedProcesses(mark: string): number[] {
  const pids = listProcesses().flatMap(({ pid, alive }) => (alive && pid !== process.pid ? [pid] : []))
  return pids.filter((pid) => environmentOf(pid)[SESSION_VARIABLE]?.startsWith(mark))
}

const PREFIX = 'work-'

/**
 * A new, empty file for what one command leaves when it ends, `0600`. No two commands ever share one:
 * a command whose `delta-sessions` was killed may still be running, and writes into its own.
 */
export function makeWorkFile(paths: SessionPaths): string {
  const path = join(paths.directory, `${PREFIX}${Math.random().toString(36).slice(2)}`)
  createFile(path, '', { sync: false })
  return path
}

/** Removes the work files there are, with those named after them. Called with the session locked. */
export function removeWorkFiles(paths: SessionPaths): void {
  for (const name of workFiles(paths)) unlinkSync(join(paths.directory, name))
}

/**
 * Clears up after a command whose `delta-sessions` was killed: ends what still runs of it (by the
 * mark in its environment), and removes its files. Called with the session locked.
 */
export async function settleCrash(paths: SessionPaths, mark: string): Promise<void> {
  if (workFiles(paths).length === 0) return
  await endProcesses(mark)
  removeWorkFiles(paths)
}

/** Also what a killed writer left beside a file. */
function workFiles({ directory }: SessionPaths): string[] {
  return readdirSync(directory).filter((name) => name.startsWith(PREFIX) || /\.[0-9a-f]{8}\.tmp$/.test(name))
}
