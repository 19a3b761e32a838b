import { join } from 'node:path'
import { endOrphans, isRunning, readProcessRecord, recordProcess } from '@delta/executor'
import type { RunState } from './run-state.js'

/**
 * Records which command of `context.yaml` is running, a generator or the token counter. Only one runs at a time, and no
 * journaled call tells of it.
 */
export function noteGenerator(state: RunState, pid: number): void {
  recordProcess(noteOf(state), pid)
}

/**
 * Ends the generator that was running when its engine died: the next engine runs it again, and both would write the same
 * file. Background processes of a generator that had ended are left alone.
 */
export async function endOrphanedGenerator(state: RunState): Promise<void> {
  const recordPath = noteOf(state)
  const record = readProcessRecord(recordPath)
  if (!record || !isRunning(record)) return // looking through all processes takes longer than this
  const ended = await endOrphans({ recordPath })
  if (ended.length > 0)
    state.emit({ kind: 'notice', message: 'A generator was still running, and has been ended.' })
}

function noteOf({ run }: RunState): string {
  return join(run.directory, 'io', 'generator.json')
}
