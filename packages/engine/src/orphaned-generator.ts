import { join } from 'node:path'
import { endOrphans, isRunning, readProcessRecord, recordProcess } from '@delta/executor'
import type { ActiveRun } from './active-run.js'

/**
 * Records which command of `context.yaml` is running, a generator or the token counter. Only one runs at a time, and no
 * journaled call tells of it.
 */
export function noteGenerator(run: ActiveRun, pid: number): void {
  recordProcess(noteOf(run), pid)
}

/**
 * Ends the generator that was running when its engine died: the next engine runs it again, and both would write the same
 * file. Background processes of a generator that had ended are left alone.
 */
export async function endOrphanedGenerator(run: ActiveRun): Promise<void> {
  const recordPath = noteOf(run)
  const record = readProcessRecord(recordPath)
  if (!record || !isRunning(record)) return // looking through all processes takes longer than this
  const ended = await endOrphans({ recordPath })
  if (ended.length > 0)
    run.emit({ kind: 'notice', message: 'A generator was still running, and has been ended.' })
}

function noteOf({ run }: ActiveRun): string {
  return join(run.directory, 'io', 'generator.json')
}
