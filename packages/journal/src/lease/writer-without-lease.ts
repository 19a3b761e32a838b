import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { JournalError } from '../errors.js'
import { endProcess } from './end-process.js'
import { processStart } from './process-identity.js'

/**
 * Whether a process whose lease was deleted has the run still: it stops before its next append, and until then its command
 * may be at work. Seen on Linux, where a process is known to be one by the journal it has open.
 */
export function writesWithoutLease(pid: number | null, journal: string): boolean {
  return pid !== null && pid !== process.pid && hasOpen(pid, journal)
}

/**
 * Returns once such a process no longer stands in the way.
 *
 * @throws {JournalError} `ERR_RUN_BUSY`: it is not to be ended by force.
 */
export async function makeWayWithoutLease(run: string, pid: number, force: boolean): Promise<void> {
  if (force) return endProcess(pid, processStart(pid) ?? null)
  throw new JournalError(
    'ERR_RUN_BUSY',
    `${run}: process ${pid} is writing this run, though its lease was deleted. Nothing was changed.\n` +
      'It stops at its next step: try again then.',
    { path: run, wayOut: 'take' },
  )
}

/** A pid alone may be another process's by now. */
function hasOpen(pid: number, path: string): boolean {
  const descriptors = `/proc/${pid}/fd`
  try {
    const wanted = statSync(path)
    return readdirSync(descriptors).some((name) => {
      const open = statSync(join(descriptors, name), { throwIfNoEntry: false })
      return open?.ino === wanted.ino && open.dev === wanted.dev
    })
  } catch {
    return false // no such process, another user's, or no /proc
  }
}
