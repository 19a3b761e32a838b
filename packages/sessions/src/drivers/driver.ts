import type { Secrets, Variables } from '../state.js'

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

/** What a process reports of its end, see `Driver`. */
export interface Report {
  /** The final environment. */
  variables: Variables
  /** Names of variables left out because their value is, or holds, a secret. */
  withheld: string[]
  workDirectory: string
  /** What it left running, as bash lists it. */
  jobs: string
  /** What could not be kept. */
  notKept: { name: string; reason: string }[]
  /** The driver's own part of the state, from which the next process restores the rest. */
  own?: Buffer
}

/** They would change how a shell itself starts, so they are set only once it runs. */
const SET_LATE = new Set(['BASH_ENV', 'ENV', 'POSIXLY_CORRECT'])
/** Read-only in a shell, and made anew by each. */
const NOT_SET = new Set(['BASHOPTS', 'SHELLOPTS'])

/**
 * Splits variables into those a process can be started with, and the others: Node can pass on only
 * text, and a value need not be valid UTF-8; and the system passes on only so much.
 */
export function launchEnvironment({ variables, room }: DriverCall): {
  env: Record<string, string>
  /** What the process must set for itself. */
  late: Variables
} {
  const env: Record<string, string> = {}
  const late: Variables = new Map()
  let used = 0
  for (const [name, value] of [...variables].sort(([, a], [, b]) => a.length - b.length)) {
    if (NOT_SET.has(name)) continue
    const text = value.toString('utf8')
    used += name.length + value.length + 2
    if (!SET_LATE.has(name) && used <= room && Buffer.from(text).equals(value)) env[name] = text
    else late.set(name, value)
  }
  return { env, late }
}
