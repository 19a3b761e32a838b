import { isName, parseVariables, type Secrets, type Variables } from '../environment.js'
import type { ExecResult } from '../result.js'
import { writePrivately } from '../store.js'

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

/** What a process reports of its end, see `Driver`. */
export interface Report {
  /** The final environment. */
  variables: Variables
  /** Names of variables left out because their value is, or holds, a secret. */
  withheld: string[]
  workDirectory: string
  /** What it left running, as the shell lists it. */
  jobs: string
  /** What could not be kept. */
  lost: NonNullable<ExecResult['not_kept']>
  /** The driver's own part of the state, from which the next process restores the rest. */
  own?: Buffer
}

/**
 * Reads a report as the Python program writes it: NUL-separated entries, the environment as `NAME=value`
 * and everything else under names no variable can have, `=cwd=…`, `=jobs=…`,
 * `=lost=…` (JSON), and `=done=` as the last.
 *
 * @returns undefined when it is not complete: the process did not come to its end.
 */
export function parseReport(bytes: Buffer): Report | undefined {
  const entries = parseVariables(bytes)
  const take = (name: string) => {
    const value = entries.get(name)?.toString('utf8')
    entries.delete(name)
    return value
  }
  const [workDirectory, jobs = '', lost = '[]', done] = ['=cwd', '=jobs', '=lost', '=done'].map(take)
  if (workDirectory === undefined || done === undefined) return undefined
  return { variables: entries, withheld: [], workDirectory, jobs, lost: JSON.parse(lost) }
}

/** They would change how a shell itself starts, so they are set only once it runs. */
const SET_LATE = new Set(['BASH_ENV', 'ENV', 'POSIXLY_CORRECT'])
/** Read-only in a shell, and made anew by each. */
const NOT_SET = new Set(['BASHOPTS', 'SHELLOPTS'])

interface LaunchEnvironment {
  env: Record<string, string>
  /** What the process must set for itself. */
  late: Variables
}

/**
 * Splits variables into those a process can be started with, and the others: Node can pass on only
 * text, and a value need not be valid UTF-8; and the system passes on only so much.
 */
export function launchEnvironment({
  variables,
  room,
}: Pick<DriverCall, 'variables' | 'room'>): LaunchEnvironment {
  const env: Record<string, string> = {}
  const late: Variables = new Map()
  let used = 0
  for (const [name, value] of bySize(variables)) {
    if (NOT_SET.has(name)) continue
    const text = value.toString('utf8')
    used += name.length + value.length + 2
    if (!SET_LATE.has(name) && used <= room && Buffer.from(text).equals(value)) env[name] = text
    else late.set(name, value)
  }
  return { env, late }
}

function bySize(variables: Variables): [string, Buffer][] {
  return [...variables].sort(([, a], [, b]) => a.length - b.length)
}

/**
 * The same for a shell: what it must set for itself becomes a script.
 *
 * @returns the script's path, if there is one.
 */
export function shellEnvironment(call: DriverCall): {
  env: Record<string, string>
  script: string | undefined
} {
  const { env, late } = launchEnvironment(call)
  const lines = [...late]
    .filter(([name]) => isName(name))
    .map(([name, value]) => `export ${name}=${quoteDouble(value.toString('latin1'))}\n`)
  if (lines.length === 0) return { env, script: undefined }
  const script = `${call.work}.variables`
  writePrivately(script, Buffer.from(lines.join(''), 'latin1'))
  return { env, script }
}

/**
 * Bytes, as latin1, as one word of a shell. In double quotes, which bash reads in time that grows with the length;
 * for some megabytes of apostrophes in any others it takes minutes.
 */
export function quoteDouble(bytes: string): string {
  return `"${bytes.replaceAll(/[\\"$`]/g, '\\$&')}"`
}

/** A text as one word of a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
