import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'

/** What the system tells of one process. */
export interface ProcessInfo {
  pid: number
  parent: number
  group: number
  /** False when it is dead and only waits to be buried by its parent. */
  alive: boolean
  /** When it began, in the system's own words, only to be compared: with the pid, who it is. A pid alone is soon reused. */
  startTime: string
}

/** Within which a pid means something: one running kernel, and one numbering of its processes. */
export interface Machine {
  /** Differs after every start of the machine. */
  bootId: string
  /** Of the container; '' on systems without such; `unseen` where no process can be looked at. */
  pidNamespace: string
  /** For messages only: names repeat and change. */
  host: string
}

/**
 * Stands for the pid namespace where no process can be looked at: on Linux without a `/proc`, or with the one of another
 * container, whose numbers name other processes.
 */
const UNSEEN = 'unseen'

let machine: Machine | undefined

/** Looked up once. */
export function thisMachine(): Machine {
  machine ??= { bootId: readBootId(), pidNamespace: readPidNamespace(), host: hostname() }
  return machine
}

/** macOS names each boot; where nothing does, the host name is the best there is. */
function readBootId(): string {
  return (
    tried(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ??
    tried(() => ask('sysctl', '-n', 'kern.bootsessionuuid').trim()) ??
    `host:${hostname()}`
  )
}

function readPidNamespace(): string {
  if (process.platform !== 'linux') return ''
  const self = tried(() => readlinkSync('/proc/self'))
  return self === String(process.pid) ? readlinkSync('/proc/self/ns/pid') : UNSEEN
}

/** False where other processes cannot be looked at, and only their heartbeats tell of them. */
export function seesProcesses(): boolean {
  return thisMachine().pidNamespace !== UNSEEN
}

/** Every process this system shows us; none where `seesProcesses` is false. */
export function listProcesses(): ProcessInfo[] {
  if (process.platform !== 'linux') return askPs('-ax')
  if (!seesProcesses()) return []
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => readProcess(Number(pid)) ?? [])
}

/** Undefined when there is no such process, or none can be seen. */
export function readProcess(pid: number): ProcessInfo | undefined {
  if (process.platform !== 'linux') return askPs('-p', String(pid))[0]
  const text = seesProcesses() ? tried(() => readLine(`/proc/${pid}/stat`)) : undefined
  return text === undefined ? undefined : parseStat(pid, text)
}

/** The `startTime` of a process; undefined when there is none (a dead one that nobody buried will do nothing any more). */
export function processStart(pid: number): string | undefined {
  const found = readProcess(pid)
  return found?.alive ? found.startTime : undefined
}

/** What a process was started with; empty for another user's, one that has ended, and on systems other than Linux. */
export function environmentOf(pid: number): NodeJS.ProcessEnv {
  const text = seesProcesses() ? tried(() => readFileSync(`/proc/${pid}/environ`, 'utf8')) : undefined
  const entries = text?.split('\0').map((entry) => entry.split(/=(.*)/s, 2))
  return Object.fromEntries(entries ?? [])
}

/** Longer than any line of `/proc/<pid>/stat`: some fifty numbers and a name of at most 64 bytes. */
const line = Buffer.allocUnsafe(4096)

/** `readFileSync` takes 64 KB of memory for a file that does not say how long it is. */
function readLine(path: string): string {
  const file = openSync(path, 'r')
  try {
    return line.toString('latin1', 0, readSync(file, line))
  } finally {
    closeSync(file)
  }
}

/** The program's name stands in parentheses and may hold parentheses and spaces itself. */
function parseStat(pid: number, text: string): ProcessInfo {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ', 20)
  const [state = '', parent, group] = fields
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    alive: state !== 'Z' && state !== 'X',
    startTime: fields[19] ?? '',
  }
}

/** Where there is no `/proc` (macOS); `ps` and these columns are POSIX, but for the last. */
export function askPs(...selection: string[]): ProcessInfo[] {
  const columns = ['pid', 'ppid', 'pgid', 'stat', 'lstart'].flatMap((name) => ['-o', `${name}=`])
  const table = tried(() => ask('ps', ...selection, ...columns)) ?? '' // it fails when it finds no process
  return table.split('\n').flatMap((row) => {
    const [, pid, parent, group, state = '', startTime = ''] =
      /^ *(\d+) +(\d+) +(\d+) +(\S+) +(.*?) *$/.exec(row) ?? []
    const numbers = { pid: Number(pid), parent: Number(parent), group: Number(group) }
    return pid === undefined ? [] : [{ ...numbers, alive: !state.startsWith('Z'), startTime }]
  })
}

/** In one spelling, whoever asks. */
function ask(program: string, ...args: string[]): string {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env })
}

/** Undefined for what this system does not have, or the process has taken with it. */
function tried<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/**
 * Sends a signal to a process group.
 *
 * @returns False when nobody is left in it, or it is not ours to signal.
 */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  return tried(() => process.kill(-group, signal)) ?? false // ESRCH: gone. EPERM: every member has another owner by now
}

const VANISH_MS = 500

/** Ends a process group: TERM, and after the grace KILL for whoever is left. */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  signalGroup(group, 'SIGTERM')
  if (await vanishes(() => hasMembers(group), graceMs)) return
  signalGroup(group, 'SIGKILL')
  await vanishes(() => hasMembers(group), VANISH_MS)
}

/** Dead members that nobody has buried (a container's first process often does not) do not count, where they can be told. */
function hasMembers(group: number): boolean {
  if (!signalGroup(group, 0)) return false
  return !seesProcesses() || listProcesses().some((each) => each.group === group && each.alive)
}

/**
 * Ends another process of this machine and returns once it is gone: TERM, and after the grace KILL.
 *
 * @param startTime - When the pid has another one by now, nothing is sent; null if it was never known.
 */
export async function endProcess(pid: number, startTime: string | null, graceMs = 5000): Promise<void> {
  const isThere = () => {
    const now = processStart(pid)
    return now !== undefined && (startTime === null || now === startTime)
  }
  if (isThere()) send(pid, 'SIGTERM')
  if (isThere()) send(pid, 'SIGCONT') // a stopped process notices the first signal only when it goes on
  if (await vanishes(isThere, graceMs)) return
  send(pid, 'SIGKILL')
  await vanishes(isThere, Number.POSITIVE_INFINITY)
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // it ended meanwhile
  }
}

/** Looks again and again: no event tells of the end of a process that is not our child. */
async function vanishes(isThere: () => boolean, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  for (let pauseMs = 2; isThere(); pauseMs = Math.min(pauseMs * 2, 50)) {
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return false
    await wait(Math.min(pauseMs, leftMs))
  }
  return true
}
