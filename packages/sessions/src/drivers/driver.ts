import type { Variables } from '../environment.js'

/**
 * What a language needs to have sessions. One command is one process: it restores the state, runs
 * the command, and leaves in `work` what the session is to remember:
 *
 * - `env`: the environment, NUL-separated
 * - `cwd`: the working directory, and one newline
 * - the driver's own `stateFile`
 * - `jobs` (optional): lines `<pid> <command>` of what it left running
 * - `lost` (optional): JSON lines `{ name, reason }` of what cannot be remembered
 * - `done`: written last. Without it, nothing of the rest counts.
 */
export interface Driver {
  /** The file besides `env` and `work_dir.txt` that makes up the state; undefined if there is none. */
  readonly stateFile?: string
  /** Writes what the process needs into `work` and says how to start it. */
  prepare(call: DriverCall): Launch
  /** An argv that fails when a state file could not be restored; asked before it replaces the old one. */
  check?(program: string, stateFile: string): string[]
}

export interface DriverCall {
  /** What to start: `bash`, `/usr/bin/python3`. */
  program: string
  command: string
  /** An empty directory for this one command. */
  work: string
  /** The driver's state file of the last command. It may not exist. */
  state: string
  /** How many commands the session has run, this one included. */
  number: number
  variables: Variables
  secretNames: readonly string[]
}

export interface Launch {
  argv: string[]
  env: Record<string, string>
}
