import { findDriver, noSessionsOf } from '../drivers/driver-of.js'
import { endSession, endUnneeded, listSessions } from '../end.js'
import { execForBytes, execInSession } from '../exec.js'
import type { ExecOptions } from '../execution.js'
import { startSession } from '../start.js'
import { atMost, maxOutputOf, timeoutOf, UsageError, type Values } from './arguments.js'
import { currentDirectory, nameOf, printJson, readInput, type Terminal } from './terminal.js'

export interface Invocation {
  terminal: Terminal
  values: Values
  operands: readonly string[]
  sessionsDirectory: string
  signal: AbortSignal
}

type Command = (invocation: Invocation) => number | Promise<number>

/** Each takes what was typed, makes one library call, prints, and returns an exit code. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries<Command>({ start, exec, end, list, cleanup }),
)

async function start({ terminal, values, operands, sessionsDirectory }: Invocation): Promise<number> {
  const [program = 'bash'] = atMost(operands, 1)
  if (findDriver(program) === undefined) throw new UsageError(noSessionsOf(program))
  const started = await startSession(program, {
    sessionsDirectory,
    workDirectory: currentDirectory(terminal),
    environment: terminal.env,
    secretNames: values.secret ?? [],
  })
  return printJson(terminal, started)
}

async function exec(invocation: Invocation): Promise<number> {
  const { terminal, values, operands, sessionsDirectory, signal } = invocation
  const [id, given] = atMost(operands, 2)
  if (id === undefined) {
    throw new UsageError(`exec needs a session id: ${nameOf(terminal)} exec <session_id> [command]`)
  }
  const command = given ?? (await readInput(terminal))
  if (command.trim() === '') {
    throw new UsageError('There is no command: give it as an argument, or on stdin.')
  }
  const timeoutMs = timeoutOf(values)
  const maxOutputBytes = maxOutputOf(values)
  const options = {
    sessionsDirectory,
    environment: terminal.env,
    signal,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxOutputBytes !== undefined && { maxOutputBytes }),
  }
  if (!values.raw) return printJson(terminal, await execInSession(id, command, options))
  return execRaw(id, command, options, terminal)
}

/** Prints what the command printed, byte for byte, and returns its exit code. */
async function execRaw(
  id: string,
  command: string,
  options: ExecOptions,
  terminal: Terminal,
): Promise<number> {
  const { result, stdout, stderr } = await execForBytes(id, command, options)
  terminal.stdout.write(stdout)
  terminal.stderr.write(stderr)
  const lost = (result.not_kept ?? []).map(({ name, reason }) => `${name} is not kept: ${reason}`)
  for (const notice of [...lost, ...(result.notices ?? [])]) {
    terminal.stderr.write(`${nameOf(terminal)}: ${notice}\n`)
  }
  return result.exit_code
}

async function end({ terminal, values, operands, sessionsDirectory, signal }: Invocation): Promise<number> {
  const [id] = atMost(operands, 1)
  if (id === undefined) {
    throw new UsageError(`end needs a session id: ${nameOf(terminal)} end <session_id>`)
  }
  return printJson(terminal, await endSession(id, { sessionsDirectory, signal, ...patience(values) }))
}

/** Of `end` and `cleanup`, `--timeout` is what a running command is given. */
function patience(values: Values): { patienceMs?: number } {
  const patienceMs = timeoutOf(values)
  return patienceMs === undefined ? {} : { patienceMs }
}

function list({ terminal, operands, sessionsDirectory }: Invocation): number {
  atMost(operands, 0)
  return printJson(terminal, listSessions(sessionsDirectory))
}

async function cleanup(invocation: Invocation): Promise<number> {
  const { terminal, values, operands, sessionsDirectory, signal } = invocation
  atMost(operands, 0)
  const runId = terminal.env.DELTA_RUN_ID
  const ended = await endUnneeded({
    sessionsDirectory,
    signal,
    ...patience(values),
    ...(values.all && { all: true }),
    ...(runId !== undefined && { runId }),
  })
  const notices = ended.flatMap(({ session_id, notices = [] }) =>
    notices.map((notice) => `${session_id}: ${notice}`),
  )
  return printJson(terminal, {
    status: 'terminated',
    session_ids: ended.map(({ session_id }) => session_id),
    ...(notices.length > 0 && { notices }),
  })
}
