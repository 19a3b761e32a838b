import type { Secrets, Variables } from '../environment.js'
import type { Report } from '../report.js'

/**
 * What a language needs to have sessions. One command is one process: it restores the state, runs
 * the command, and when it ends by itself writes down, in its work file, what the session is to remember.
 */
export interface Driver {
  /** The name under which a state has the driver's own part of it. */
  readonly stateFile: string
  /** Says how to start the process, and writes what it needs to files whose names begin with `work` and a dot. */
  prepare(call: DriverCall): Launch
  /**
   * Reads what the process left.
   *
   * @returns undefined when that is not complete: then nothing of it counts.
   * @throws {SyntaxError} It makes no sense.
   */
  collect(work: string, secrets: Secrets): Report | undefined
  /** An argv that fails when a state file could not be restored; asked before it replaces the old one. */
  check?(program: string, stateFile: string): string[]
}

export interface DriverCall {
  /** What to start, as an absolute path. */
  program: string
  command: string
  /** The session's directory, for what is the same for all its commands. */
  session: string
  /** An empty file for this one command, `0600`. It and all files named after it are removed afterwards. */
  work: string
  /** The driver's state file of the last command. It may not exist. */
  state: string
  /** How many commands the session has run, this one included. */
  number: number
  variables: Variables
  /** How many bytes of variables the process may be started with; it sets the others itself. */
  room: number
  /** Names that must not appear in what the process leaves. */
  secretNames: readonly string[]
}

export interface Launch {
  argv: string[]
  env: Record<string, string>
}
