import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'

/** What the system tells of one process. */
export interface ProcessStat {
  pid: number
  parent: number
  group: number
  /** False when it is dead and only waits to be buried by its parent. */
  alive: boolean
  /** When it began, in the system's own words: with the pid, who it is. */
  startTime: string
}

/** Every process this system shows us; none where `seesProcesses` is false. */
export function listProcesses(): ProcessStat[] {
  if (process.platform !== 'linux') return askPs('-ax')
  const pids = onLinux(() => readdirSync('/proc').filter((name) => /^\d+$/.test(name))) ?? []
  return pids.flatMap((pid) => readStat(Number(pid)) ?? [])
}

let seen: boolean | undefined

/** False on Linux without a `/proc`, or with the one of another container: its numbers name other processes than ours. */
export function seesProcesses(): boolean {
  seen ??= process.platform !== 'linux' || hasOwnProc()
  return seen
}

function hasOwnProc(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid)
  } catch {
    return false
  }
}

/** Undefined when there is no such process any more. */
export function readStat(pid: number): ProcessStat | undefined {
  const text = onLinux(() => readLine(`/proc/${pid}/stat`))
  if (text !== undefined) return parseStat(pid, text)
  return process.platform === 'linux' ? undefined : askPs('-p', String(pid))[0]
}

/** Longer than any line of `/proc/<pid>/stat`: some fifty numbers and a name of at most 64 bytes. */
const line = Buffer.allocUnsafe(4096)

/** `readFileSync` takes 64 KB of memory for a file that does not say how long it is. */
function readLine(path: string): string {
  const descriptor = openSync(path, 'r')
  try {
    return line.toString('latin1', 0, readSync(descriptor, line))
  } finally {
    closeSync(descriptor)
  }
}

function onLinux<T>(read: () => T): T | undefined {
  if (process.platform !== 'linux' || !seesProcesses()) return undefined
  try {
    return read()
  } catch {
    return undefined // the process ended meanwhile
  }
}

/** Of those behind the name, up to `starttime`; what follows is not split. */
const STAT_FIELDS = 20

function parseStat(pid: number, text: string): ProcessStat {
  // The second field is the program's name in parentheses, and may hold parentheses and spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ', STAT_FIELDS)
  const [state = '', parent, group] = fields
  const alive = state !== 'Z' && state !== 'X'
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    alive,
    startTime: fields[STAT_FIELDS - 1] ?? '',
  }
}

/** Where there is no `/proc` (macOS); `ps` and these columns are POSIX, but for the last. */
export function askPs(...selection: string[]): ProcessStat[] {
  const columns = ['-o', 'pid=', '-o', 'ppid=', '-o', 'pgid=', '-o', 'stat=', '-o', 'lstart=']
  let table: string
  try {
    table = execFileSync('ps', [...selection, ...columns], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    })
  } catch {
    return [] // ps says by its exit code that no process was selected
  }
  return table.split('\n').flatMap((line) => {
    const [, pid, parent, group, state = '', startTime = ''] =
      /^ *(\d+) +(\d+) +(\d+) +(\S+) +(.*?) *$/.exec(line) ?? []
    if (pid === undefined) return []
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        alive: !state.startsWith('Z'),
        startTime,
      },
    ]
  })
}
