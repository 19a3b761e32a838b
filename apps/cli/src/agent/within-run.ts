import type { Terminal } from '../terminal/terminal.js'

/**
 * True when a tool, hook or generator of a run started this process: its command line and its stdin may then come from a
 * model, and a model must not approve commands.
 */
export function isWithinRun({ env }: Terminal): boolean {
  return env.DELTA_PARENT_RUN !== undefined
}
