import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** One running kernel and one numbering of its processes: a pid means something only within both. */
export interface Machine {
  bootId: string
  pidNamespace: string
  /** For messages only: names repeat and change. */
  host: string
}

let known: Machine | undefined

export function thisMachine(): Machine {
  known ??= { bootId: readBootId(), pidNamespace: readPidNamespace(), host: hostname() }
  return known
}

function readBootId(): string {
  return tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) ?? bootIdWithoutProc()
}

/** macOS names each boot; where nothing does, the host name is the best there is. */
function bootIdWithoutProc(): string {
  return tryRead(() => execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], quiet)) ?? `host:${hostname()}`
}

/**
 * Stands for the pid namespace where no process can be looked at: on Linux without a `/proc`, or with the one of another
 * container, whose numbers name other processes.
 */
export const UNSEEN = 'unseen'

/** Other systems have no pid namespaces. */
function readPidNamespace(): string {
  if (process.platform !== 'linux') return ''
  const ourselves = tryRead(() => readlinkSync('/proc/self'))
  return ourselves === String(process.pid) ? readlinkSync('/proc/self/ns/pid') : UNSEEN
}

const quiet: ExecFileSyncOptionsWithStringEncoding = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }

function tryRead(read: () => string): string | undefined {
  try {
    return read().trim() || undefined
  } catch {
    return undefined // not this kind of system: the caller has another way
  }
}
