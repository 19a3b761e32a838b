import { readdirSync, readFileSync, unlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createFile, processStart, thisMachine } from '@delta/durable'
import { environmentOf, listProcesses, readProcess } from '@delta/durable/internal'
import type { DriverCall } from './drivers/driver.js'
import { systemCode } from './errors.js'
import { type BackgroundJob, placeOf, type SessionPaths } from './store.js'

/** How long a background job may take to end after TERM. */
const GRACE_MS = 1000

/** The variable that marks every process a session started. */
export const SESSION_VARIABLE = 'DELTA_SESSION'

/**
 * Reads what `jobs -l` prints: `[1]+ 4711 Running    sleep 60 &`. Only jobs that still run count. Shells other
 * than bash do not print the command: a job is then the command line of its process, or the whole command that was
 * typed where that process is a copy of the shell (`(sleep 60; echo) &`), whose command line is our program.
 */
export function parseJobs(listing: string, { work, command: typed }: DriverCall): BackgroundJob[] {
  return listing.split('\n').flatMap((line) => {
    const [, digits, command] = /^\[\d+\]\s*[+-]?\s+(\d+)\s+Running\s*(.*?)\s*&?$/.exec(line) ?? []
    const pid = Number(digits)
    const start = pid > 1 ? startOf(pid) : undefined
    if (start === undefined) return []
    const ofProcess = commandOf(pid)
    return [{ pid, start, command: command || (ofProcess.includes(work) ? typed : ofProcess) }]
  })
}

/** The jobs that have not ended yet. */
export function livingJobs(jobs: readonly BackgroundJob[]): BackgroundJob[] {
  return jobs.filter(({ pid, start }) => startOf(pid) === start)
}

/**
 * The value of `SESSION_VARIABLE` in the processes of one command; without a number, the prefix of all marks of a session. It
 * names the directory by its inode, because a copy of a session has the same id.
 */
export function markOf(paths: SessionPaths, number?: number): string {
  const session = `${basename(paths.directory)}@${placeOf(paths).inode}:`
  return number === undefined ? session : `${session}${number}:`
}

/**
 * Ends the given jobs, and on Linux every process whose mark begins with `mark`, whatever group it moved to: TERM first,
 * then KILL.
 *
 * @returns False when there was nothing to end.
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

/** Signals the whole group of a process, unless the group is our own, or the first of the system: -1 means every process. */
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
 * Identifies a process among those that have the same number later or in another container: its start time, as the
 * system counts, and after an `@` the boot and the pid namespace. Undefined when there is no such process.
 */
function startOf(pid: number): string | undefined {
  const start = processStart(pid)
  const { bootId, pidNamespace } = thisMachine()
  return start === undefined ? undefined : `${start}@${bootId}${pidNamespace}`
}

/** The command line of a process; empty where it cannot be read. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return '' // it ended meanwhile, or this is not Linux
  }
}

/** Every living process whose mark begins with `mark`. Linux only, elsewhere none. */
function markedProcesses(mark: string): number[] {
  const pids = listProcesses().flatMap(({ pid, alive }) => (alive && pid !== process.pid ? [pid] : []))
  return pids.filter((pid) => environmentOf(pid)[SESSION_VARIABLE]?.startsWith(mark))
}

const PREFIX = 'work-'

/**
 * Creates an empty file, `0600`, to which one command writes its state when it ends. No two commands ever share one,
 * because a command whose `delta-sessions` was killed may still run and write.
 */
export function makeWorkFile(paths: SessionPaths): string {
  const path = join(paths.directory, `${PREFIX}${Math.random().toString(36).slice(2)}`)
  createFile(path, '', { sync: false })
  return path
}

/** Removes all work files, and the files named after them. Called with the session locked. */
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

/** Includes what a killed writer left beside a file. */
function workFiles({ directory }: SessionPaths): string[] {
  return readdirSync(directory).filter((name) => name.startsWith(PREFIX) || /\.[0-9a-f]{8}\.tmp$/.test(name))
}
