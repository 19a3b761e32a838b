import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { explainSystemError } from './system-error.js'
import type { Terminal } from './terminal.js'
import { UsageError } from './usage-error.js'

/** `-w` of a command that only looks, as an absolute path; a directory that is missing has no runs, a file is a mistake. */
export function workDirectoryOf({ workDir }: { workDir: string }, terminal: Terminal): string {
  const directory = resolve(terminal.cwd, workDir)
  try {
    if (statSync(directory).isDirectory()) return directory
  } catch (cause) {
    // not throwIfNoEntry: since Node.js 22 it takes what lies below a file for missing, too
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return directory
    throw new UsageError(`-w ${workDir}: ${explainSystemError(cause) ?? (cause as Error).message}`, { cause })
  }
  throw new UsageError(`-w ${workDir}: it is a file, not a directory.`)
}
