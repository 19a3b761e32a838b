import { basename } from 'node:path'
import { workDirectoryOf } from '@delta/journal'
import type { Terminal } from '../terminal/terminal.js'

/**
 * True when a tool, hook or generator of a run started this process: its command line and its stdin may then come from a
 * model, and a model must not approve commands.
 */
export function isWithinRun({ env }: Terminal): boolean {
  return env.DELTA_PARENT_RUN !== undefined
}

/** The run whose tool started this process, if one did; `isHere` when it belongs to this workspace. */
export function callerOf(
  workDirectory: string,
  env: NodeJS.ProcessEnv,
): { runId: string; isHere: boolean } | undefined {
  const directory = env.DELTA_PARENT_RUN
  if (directory === undefined || directory === '') return undefined
  return { runId: basename(directory), isHere: workDirectoryOf(directory) === workDirectory }
}
