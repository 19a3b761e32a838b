import { basename, dirname } from 'node:path'
import type { Terminal } from '../terminal/terminal.js'

/**
 * True when a tool, hook or generator of a run started this process: what stands on its command line and on its stdin
 * may then be a model's words, and a model approves no commands.
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
  return { runId: basename(directory), isHere: dirname(dirname(directory)) === workDirectory }
}
