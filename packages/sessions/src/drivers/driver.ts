import type { Secrets, Variables } from '../state.js'

/**
 * Sessions of one language. One command is one process: it restores the state, runs the command, and when it ends by
 * itself writes what the session is to remember to its work file.
 */
export interface Driver {
  /** Name of the driver's own file in a state. */
  readonly stateFile: string
  /** How to start the process. Writes what the process needs to files whose names begin with `work` and a dot. */
  prepare(call: DriverCall): Launch
  /**
   * Reads what the process wrote to its work file.
   *
   * @returns undefined when the file is not complete: then nothing in it counts.
   * @throws {SyntaxError} The file cannot be parsed.
   */
  collect(work: string, secrets: Secrets): Report | undefined
  /** An argv that fails when a state file could not be restored; run before the file replaces the old one. */
  check?(program: string, stateFile: string): string[]
}

export interface DriverCall {
  /** Absolute path of the shell or interpreter. */
  program: string
  command: string
  /** Path of an empty file, `0600`, for this one command. It and all files named after it are removed afterwards. */
  work: string
  /** Path of the driver's state file of the last command. It may not exist. */
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

/** What a process wrote when it ended, see `Driver`. */
export interface Report {
  /** The final environment. */
  variables: Variables
  /** Names of variables left out because their value holds a secret. */
  withheld: string[]
  workDirectory: string
  /** Jobs that still run, as bash lists them. */
  jobs: string
  /** What could not be kept. */
  notKept: { name: string; reason: string }[]
  /** The driver's own part of the state, from which the next process restores the rest. */
  own?: Buffer
}

/** Variables that change how a shell itself starts, so they are set only once it runs. */
const SET_LATE = new Set(['BASH_ENV', 'ENV', 'POSIXLY_CORRECT'])
/** Variables that are read-only in a shell, and made anew by each. */
const NOT_SET = new Set(['BASHOPTS', 'SHELLOPTS'])

/** An environment that every system takes. */
const MAX_ENVIRONMENT_BYTES = 64 * 1024

/**
 * Splits variables into those a process is started with, and the others. Node.js can pass only valid UTF-8, and the
 * system limits the size.
 */
export function launchEnvironment({ variables }: DriverCall): {
  env: Record<string, string>
  /** Variables that the process must set for itself. */
  late: Variables
} {
  const env: Record<string, string> = {}
  const late: Variables = new Map()
  let used = 0
  for (const [name, value] of [...variables].sort(([, a], [, b]) => a.length - b.length)) {
    if (NOT_SET.has(name)) continue
    const text = value.toString('utf8')
    used += name.length + value.length + 2
    if (!SET_LATE.has(name) && used <= MAX_ENVIRONMENT_BYTES && Buffer.from(text).equals(value))
      env[name] = text
    else late.set(name, value)
  }
  return { env, late }
}
