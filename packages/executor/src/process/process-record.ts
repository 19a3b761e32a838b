import { closeSync, constants, ftruncateSync, openSync, writeSync } from 'node:fs'
import { processStart, readIfThere, readProcess, thisMachine } from '@delta/durable'

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
