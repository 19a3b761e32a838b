import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { endOrphans } from '@delta/executor'
import type { RunState } from '../run-state.js'

/**
 * Ends the hooks that were running when their engine died: the next engine may run them again, and no hook may run beside
 * its own second attempt. On Linux only, where they are found by their environment. Background processes of a hook that had
 * ended are left alone.
 */
export async function endOrphanedHooks(state: RunState): Promise<void> {
  const hookDirectories = unfinished(state.run.paths.hooks)
  if (hookDirectories.length === 0) return
  const ended = await endOrphans({ hookDirectories })
  if (ended.length > 0)
    state.emit({ kind: 'notice', message: 'A hook was still running, and has been ended.' })
}

/** A hook's record is written beside its directory as soon as it has ended. */
function unfinished(directory: string): string[] {
  const names = new Set(readdirSync(directory))
  return [...names]
    .filter((name) => !name.endsWith('.json') && !names.has(`${name}.json`))
    .map((name) => join(directory, name))
}
