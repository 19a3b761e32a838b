import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf } from './files.js'

/** One process, as the system shows it. */
export interface ProcessInfo {
  pid: number
  parent: number
  group: number
  /** False when it is dead, and its parent has not waited for it yet. */
  alive: boolean
  /** Start time in the system's own format, only to be compared. Pid and start time identify a process; a pid alone is reused. */
  startTime: string
}

/** The scope of a pid: one boot of one machine, and one pid namespace. */
export interface Machine {
  /** Differs after every start of the machine. */
  bootId: string
  /** Differs between containers; '' on systems without namespaces; `unseen` where processes cannot be seen. */
  pidNamespace: string
  /** For messages only: names repeat and change. */
  host: string
}

/** The pid namespace on a Linux without `/proc`, or with the `/proc` of another container, whose pids mean other processes. */
const UNSEEN = 'unseen'

let machine: Machine | undefined

/** Identifies this machine, boot and container. Read once. */
export function thisMachine(): Machine {
  machine ??= { bootId: readBootId(), pidNamespace: readPidNamespace(), host: hostname() }
  return machine
}

/** Linux and macOS name each boot; elsewhere the host name has to do. */
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

/** False where other processes cannot be seen, and only heartbeats tell about them. */
export function seesProcesses(): boolean {
  return thisMachine().pidNamespace !== UNSEEN
}

/** Every process this system shows; `[]` where processes cannot be seen. */
export function listProcesses(): ProcessInfo[] {
  if (process.platform !== 'linux') return askPs('-ax')
  if (!seesProcesses()) return []
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => readProcess(Number(pid)) ?? [])
}

/** Undefined when the process does not exist, or processes cannot be seen. */
export function readProcess(pid: number): ProcessInfo | undefined {
  if (process.platform !== 'linux') return askPs('-p', String(pid))[0]
  const text = seesProcesses() ? tried(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) : undefined
  return text === undefined ? undefined : parseStat(pid, text)
}

/** The `startTime` of a process; undefined when it does not exist or is dead. */
export function processStart(pid: number): string | undefined {
  const found = readProcess(pid)
  return found?.alive ? found.startTime : undefined
}

/** The environment a process was started with; empty for the processes of other users, and on systems other than Linux. */
export function environmentOf(pid: number): NodeJS.ProcessEnv {
  const text = seesProcesses() ? tried(() => readFileSync(`/proc/${pid}/environ`, 'utf8')) : undefined
  const entries = text?.split('\0').map((entry) => entry.split(/=(.*)/s, 2))
  return Object.fromEntries(entries ?? [])
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

/** The output of a program, in the same format for every user. */
function ask(program: string, ...args: string[]): string {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env })
}

/** Undefined when the system lacks it, or the process has ended. */
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
 * @returns False when the group is empty, or its processes belong to another user.
 */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  return tried(() => process.kill(-group, signal)) ?? false // ESRCH: gone. EPERM: every member has another owner by now
}

const VANISH_MS = 500

/** Ends a process group: TERM, and after the grace KILL for the processes that are left. */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  signalGroup(group, 'SIGTERM')
  if (await vanishes(() => hasMembers(group), graceMs)) return
  signalGroup(group, 'SIGKILL')
  await vanishes(() => hasMembers(group), VANISH_MS)
}

/** Zombies, which remain where a container's first process does not wait for them, do not count where processes can be seen. */
function hasMembers(group: number): boolean {
  if (!signalGroup(group, 0)) return false
  return !seesProcesses() || listProcesses().some((each) => each.group === group && each.alive)
}

/**
 * Ends another process of this machine and returns once it is gone: TERM, and after the grace KILL.
 *
 * @param startTime - When the pid has another start time by now, no signal is sent; null if it was never known.
 */
export async function endProcess(pid: number, startTime: string | null, graceMs = 5000): Promise<void> {
  const isThere = () => {
    const now = processStart(pid)
    return now !== undefined && (startTime === null || now === startTime)
  }
  if (isThere()) send(pid, 'SIGTERM')
  if (isThere()) send(pid, 'SIGCONT') // a stopped process receives the first signal only when it continues
  if (await vanishes(isThere, graceMs)) return
  send(pid, 'SIGKILL')
  await vanishes(isThere, Number.POSITIVE_INFINITY)
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error // it ended meanwhile
  }
}

/** Polls, because the system has no event for the end of a process that is not our child. */
async function vanishes(isThere: () => boolean, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  for (let pauseMs = 2; isThere(); pauseMs = Math.min(pauseMs * 2, 50)) {
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return false
    await wait(Math.min(pauseMs, leftMs))
  }
  return true
}
