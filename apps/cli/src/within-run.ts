import { basename, dirname } from 'node:path'
import type { Terminal } from './terminal.js'

/**
 * True when a tool, hook or generator of a run started this process: what stands on its command line and on its stdin
 * may then be a model's words, and a model approves no commands.
 */
export function isWithinRun({ env }: Terminal): boolean {
  return env.DELTA_PARENT_RUN !== undefined
}

/** The id of the run whose tool started this process, if it belongs to this workspace; undefined otherwise. */
export function callerIn(workDirectory: string, env: NodeJS.ProcessEnv): string | undefined {
  const directory = env.DELTA_PARENT_RUN
  return directory && dirname(dirname(directory)) === workDirectory ? basename(directory) : undefined
}
