import type { Variables } from '../environment.js'

/**
 * What a language needs to have sessions. One command is one process: it restores the state, runs
 * the command, and leaves in its work directory what the session is to remember:
 *
 * - `state`: the driver's own file, in whatever form the next process can restore it from
 * - `report`: NUL-separated, the final environment as `NAME=value`, then `=cwd=` with the working
 *   directory as `pwd` prints it, if it applies `=jobs=` with a listing of what still runs and `=lost=` with JSON lines
 *   `{ name, reason }` of what cannot be remembered, and last `=done=`, without which nothing counts
 */
export interface Driver {
  /** The name of `state` once it is stored. */
  readonly stateFile: string
  /** Writes what the process needs into `work` and says how to start it. */
  prepare(call: DriverCall): Launch
  /** An argv that fails when a state file could not be restored; asked before it replaces the old one. */
  check?(program: string, stateFile: string): string[]
}

export interface DriverCall {
  /** What to start, as an absolute path. */
  program: string
  command: string
  /** The session's directory, for what is the same for all its commands. */
  session: string
  /** An empty directory for this one command. */
  work: string
  /** The driver's state file of the last command. It may not exist. */
  state: string
  /** How many commands the session has run, this one included. */
  number: number
  variables: Variables
  /** Names that must not appear in what the process leaves. */
  secretNames: readonly string[]
}

export interface Launch {
  argv: string[]
  env: Record<string, string>
}
