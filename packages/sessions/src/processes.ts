import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Tells a process from every other with the same number, a later one or one of another container: its start time, as the
 * system counts, and after an `@` within which it has its number. Undefined when there is no such process.
 */
export function startOf(pid: number): string | undefined {
  const start = process.platform === 'linux' ? startTicks(pid) : startDate(pid)
  return start === undefined ? undefined : `${start}@${numberingOfProcesses()}`
}

let known: string | undefined

/**
 * Within which a process has its number: this boot of this machine, and in it this container. Undefined where no process can
 * be looked at, on Linux without a `/proc`, or with the one of another container.
 */
export function numberingOfProcesses(): string | undefined {
  known ??= process.platform === 'linux' ? linuxNumbering() : hostname()
  return known
}

function linuxNumbering(): string | undefined {
  try {
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() + readlinkSync('/proc/self/ns/pid')
  } catch {
    return undefined
  }
}

/** True when the process of that number is alive and began at `start`. */
export function isSameProcess(pid: number, start: string): boolean {
  return startOf(pid) === start
}

/** The process group of a living process. */
export function groupOf(pid: number): number | undefined {
  if (process.platform === 'linux') return Number(statFields(pid)?.[2]) || undefined
  return Number(ps(pid, 'pgid')) || undefined
}

/** What a process was started as, as far as that can be seen. */
export function commandOf(pid: number): string {
  if (process.platform === 'linux')
    return readProc(pid, 'cmdline', 'utf8')?.replaceAll('\0', ' ').trim() ?? ''
  return ps(pid, 'args') ?? ''
}

/** Every living process that has a variable beginning with `entry` (`NAME=va`). Linux only, elsewhere none. */
export function processesWith(entry: string): number[] {
  if (process.platform !== 'linux' || numberingOfProcesses() === undefined) return []
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => pid !== process.pid && hasEntry(pid, entry))
}

function hasEntry(pid: number, entry: string): boolean {
  const environment = readProc(pid, 'environ')
  return environment !== undefined && `\0${environment}`.includes(`\0${entry}`)
}

/** The fields of /proc/<pid>/stat from the state on; a dead process nobody has buried counts as gone. */
function statFields(pid: number): string[] | undefined {
  const stat = readProc(pid, 'stat')
  // The program's name stands in parentheses and may hold spaces and parentheses itself.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields?.[0] === 'Z' || fields?.[0] === 'X' ? undefined : fields
}

function startTicks(pid: number): string | undefined {
  return statFields(pid)?.[19]
}

/** By default one character a byte, which harms no value. */
function readProc(pid: number, file: string, encoding: 'latin1' | 'utf8' = 'latin1'): string | undefined {
  if (numberingOfProcesses() === undefined) return undefined
  try {
    return readFileSync(`/proc/${pid}/${file}`, encoding)
  } catch {
    return undefined // it ended meanwhile, or belongs to somebody else
  }
}

function startDate(pid: number): string | undefined {
  return ps(pid, 'lstart')?.replaceAll(' ', '_') // one word in the name of a lock's holder
}

function ps(pid: number, column: string): string | undefined {
  try {
    const output = execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return output.trim() || undefined
  } catch {
    return undefined // ps reports a process that is gone by failing
  }
}
