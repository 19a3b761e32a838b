import type { EventEmitter } from 'node:events'

/** Everything a command sees of the outside world, so that a test can replace it. */
export interface Terminal {
  /** Arguments after the program's name. */
  argv: string[]
  env: NodeJS.ProcessEnv
  /** Absolute path. */
  cwd: string
  stdin: NodeJS.ReadStream
  /** Results only. */
  stdout: NodeJS.WriteStream
  /** Everything else: progress, notices, errors. */
  stderr: NodeJS.WriteStream
  /** Emits SIGINT, SIGTERM and SIGHUP; `uncaughtExceptionMonitor` and `exit`, as a process does. */
  signals: EventEmitter
  /** Ends the process at once; only for a second Ctrl+C. */
  exit(exitCode: number): void
}

export const EXIT = { completed: 0, failed: 1, usage: 2, busy: 6, waiting: 101 } as const

/** Exit codes of a run that a signal stopped, by the signal's name. */
export const SIGNAL_EXIT: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
