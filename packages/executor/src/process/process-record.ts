import { execFileSync } from 'node:child_process'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, readlinkSync, writeSync } from 'node:fs'
import { readStat, seesProcesses } from './processes.js'

/** Who a running process is, so that it is recognised after a crash, a reboot or a reuse of its pid. */
export interface ProcessRecord {
  pid: number
  /** As the system has it: clock ticks since the start of the machine on Linux, a date on macOS. Only to be compared. */
  start_time: string
  /** Differs after every start of the machine. */
  boot_id: string
  /** Which numbering of processes the pid belongs to: a container has its own. Linux only. */
  pid_namespace?: string
}

/** Who a running command is, as the text of the file in which `findOrphans` looks: one JSON object, and a line end. */
export function describeProcess(pid: number): string {
  const record: ProcessRecord = { pid, start_time: readStat(pid)?.startTime ?? '', ...numbering() }
  return `${JSON.stringify(record)}\n`
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
    const { pid, start_time, boot_id, pid_namespace } = JSON.parse(readText(path)) as Partial<ProcessRecord>
    if (typeof pid !== 'number' || pid <= 1) return undefined
    if (typeof start_time !== 'string' || typeof boot_id !== 'string') return undefined
    return { pid, start_time, boot_id, ...(typeof pid_namespace === 'string' && { pid_namespace }) }
  } catch {
    return undefined // missing or torn: the crash came first
  }
}

/** Without waiting for ever where there is a pipe. */
function readText(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

/** True while the process of a record runs; another process with its pid does not count. */
export function isRunning(record: ProcessRecord): boolean {
  const { pid, start_time, boot_id, pid_namespace } = record
  const now = readStat(pid)
  if (now?.alive !== true || now.startTime !== start_time) return false
  const ours = numbering()
  return boot_id === ours.boot_id && (pid_namespace ?? ours.pid_namespace) === ours.pid_namespace
}

type Numbering = Pick<ProcessRecord, 'boot_id' | 'pid_namespace'>

let known: Numbering | undefined

/** Within which a pid means something. */
function numbering(): Numbering {
  known ??= readNumbering()
  return known
}

function readNumbering(): Numbering {
  if (process.platform !== 'linux')
    return { boot_id: execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim() }
  if (!seesProcesses()) return { boot_id: '' }
  const boot_id = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return { boot_id, pid_namespace: readlinkSync('/proc/self/ns/pid') }
}
