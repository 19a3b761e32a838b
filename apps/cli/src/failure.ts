import { ISSUES } from './issues.js'
import { printable } from './present/printable.js'
import { explainSystemError } from './terminal/system-error.js'
import { EXIT, SIGNAL_EXIT, type Terminal } from './terminal/terminal.js'
import { withExactCommands } from './usage/exact-commands.js'
import { withOwnFlags } from './usage/own-flags.js'
import { withSpokenName } from './usage/spoken-name.js'

/** Errors that a person can fix on the command line or in a file; the rest are failures of the run. */
const USAGE_CODES = [
  /^ERR_CLI_/,
  /^ERR_CONFIG/,
  /^ERR_TOOL/,
  /^ERR_ENGINE_(RUN_NOT_FOUND|OTHER_WORKSPACE|MESSAGE_REQUIRED|NO_RETRY|NO_CREDENTIALS|NO_AGENT|NO_ANSWER|NOT_WAITING)/,
  /^ERR_REQUEST_NOT_FOUND/,
  /^ERR_RUN_(NOT_FOUND|EXISTS|ID)/,
  /^ERR_RUNS_DIRECTORY/,
]

/** Prints what went wrong, without a stack trace unless `DELTA_DEBUG` is set, and returns the exit code. */
export function reportFailure(terminal: Terminal, error: unknown): number {
  terminal.stderr.write(`${printable(messageOf(error, terminal.env))}\n`)
  if (terminal.env.DELTA_DEBUG && error instanceof Error)
    terminal.stderr.write(`${printable(error.stack ?? '')}\n`)
  return exitCodeOf(error)
}

/** The same for an error that no command caught: unless it came from the system, it is a bug of ours. */
export function reportUncaught(terminal: Terminal, error: unknown): number {
  const exitCode = reportFailure(terminal, error)
  if (explained(error) === undefined)
    terminal.stderr.write(
      `This is a bug in Delta. Please report it, with what DELTA_DEBUG=1 adds: ${ISSUES}\n`,
    )
  return exitCode
}

function messageOf(error: unknown, env: NodeJS.ProcessEnv): string {
  const message = explained(error) ?? withSpokenName(withOwnFlags(exactMessage(error, env)), env)
  if (codeOf(error) === 'ERR_RUN_BUSY')
    return `Error: Run is currently executing. Wait for completion or interrupt first.\n${message}`
  return message.startsWith('Error: ') ? message : `Error: ${message}`
}

function exactMessage(error: unknown, env: NodeJS.ProcessEnv): string {
  if (!(error instanceof Error)) return String(error)
  const { path } = error as { path?: unknown }
  if (typeof path === 'string') return withExactCommands(error.message, path, env)
  return error.message
}

/** Explains an error that came directly from the system, with its path if it has one. */
function explained(error: unknown): string | undefined {
  const { dest, path, syscall } = Object(error) as NodeJS.ErrnoException & { dest?: string }
  const reason = explainSystemError(error)
  return reason && `${dest ?? path ?? syscall}: ${reason}`
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '')
}

function exitCodeOf(error: unknown): number {
  const code = codeOf(error)
  if (code === 'ERR_RUN_BUSY') return EXIT.busy
  if (code === 'ERR_CLI_STOPPED') return SIGNAL_EXIT[(error as { signal: string }).signal] ?? EXIT.failed
  return USAGE_CODES.some((pattern) => pattern.test(code)) ? EXIT.usage : EXIT.failed
}
