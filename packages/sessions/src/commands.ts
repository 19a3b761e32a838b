import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { findDriver, noSessionsOf } from './drivers/driver-of.js'
import { endSession, endUnneeded, listSessions } from './end.js'
import { execForBytes, execInSession } from './exec.js'
import { startSession } from './start.js'

/** The part of `process` a command needs; `process` itself is one. */
export interface Terminal {
  /** What was typed to start it, for help and messages; by default `delta-sessions`. */
  name?: string
  /** As in `process`: the interpreter, the script, then what was typed. */
  argv: readonly string[]
  env: NodeJS.ProcessEnv
  /** What relative paths start at. */
  cwd: string | (() => string)
  stdin: AsyncIterable<unknown>
  /** Text, and with `exec --raw` the bytes that a command printed. */
  stdout: { write(output: string | Uint8Array): unknown; isTTY?: boolean; columns?: number }
  stderr: { write(output: string | Uint8Array): unknown }
  /** Without it, signals do what they do to any program. */
  once?(signal: NodeJS.Signals, listener: () => void): unknown
  off?(signal: NodeJS.Signals, listener: () => void): unknown
}

export function nameOf({ name = 'delta-sessions' }: Terminal): string {
  return name
}

export function currentDirectory({ cwd }: Terminal): string {
  return typeof cwd === 'string' ? cwd : cwd()
}

/** Prints a result, and returns the exit code of a command that worked. */
export function print(terminal: Terminal, output: string): number {
  terminal.stdout.write(output)
  return 0
}

function printJson(terminal: Terminal, value: unknown): number {
  return print(terminal, `${JSON.stringify(value, null, 2)}\n`)
}

interface Invocation {
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
    secretNames: values.secret,
  })
  return printJson(terminal, started)
}

async function exec({ terminal, values, operands, sessionsDirectory, signal }: Invocation): Promise<number> {
  const [id = withoutId('exec'), given] = atMost(operands, 2)
  const command = given ?? (await text(terminal.stdin))
  if (command.trim() === '') {
    throw new UsageError('There is no command: give it as an argument, or on stdin.')
  }
  const options = {
    sessionsDirectory,
    environment: terminal.env,
    signal,
    timeoutMs: timeoutOf(values),
    maxOutputBytes: maxOutputOf(values),
  }
  if (!values.raw) return printJson(terminal, await execInSession(id, command, options))

  const { result, stdout, stderr } = await execForBytes(id, command, options)
  terminal.stdout.write(stdout)
  terminal.stderr.write(stderr)
  const lost = (result.not_kept ?? []).map(({ name, reason }) => `${name} is not kept: ${reason}`)
  for (const notice of [...lost, ...(result.notices ?? [])]) {
    terminal.stderr.write(`${nameOf(terminal)}: ${notice}\n`)
  }
  return result.exit_code
}

/** Of `end` and `cleanup`, `--timeout` is what a running command is given. */
async function end({ terminal, values, operands, sessionsDirectory, signal }: Invocation): Promise<number> {
  const [id = withoutId('end')] = atMost(operands, 1)
  return printJson(
    terminal,
    await endSession(id, { sessionsDirectory, signal, patienceMs: timeoutOf(values) }),
  )
}

function list({ terminal, operands, sessionsDirectory }: Invocation): number {
  atMost(operands, 0)
  return printJson(terminal, listSessions(sessionsDirectory))
}

async function cleanup({
  terminal,
  values,
  operands,
  sessionsDirectory,
  signal,
}: Invocation): Promise<number> {
  atMost(operands, 0)
  const ended = await endUnneeded({
    sessionsDirectory,
    signal,
    patienceMs: timeoutOf(values),
    all: values.all,
    runId: terminal.env.DELTA_RUN_ID,
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

const OPTIONS = {
  'sessions-dir': { type: 'string' },
  timeout: { type: 'string' },
  secret: { type: 'string', multiple: true },
  'max-output': { type: 'string' },
  raw: { type: 'boolean' },
  all: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const

/** What was typed makes no sense; the message says what would. */
export class UsageError extends Error {}

export type Values = ReturnType<typeof parseWords>['values']

/** @throws {UsageError} In Node's own words, but for its advice to set the words of a command apart, which would send it in pieces. */
export function parseWords(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    const [what] = (error as Error).message.split(' To specify a positional')
    throw new UsageError(`${what}\n--help lists the options. ${QUOTE_IT}`)
  }
}

/** @throws {UsageError} There are more than `count` of them. */
function atMost(operands: readonly string[], count: number): readonly string[] {
  const surplus = operands[count]
  if (surplus === undefined) return operands
  throw new UsageError(`"${surplus}" is too much. ${QUOTE_IT}`)
}

const QUOTE_IT = 'Quote the command to run as one argument, or send it on stdin.'

function withoutId(command: string): never {
  throw new UsageError(`${command} needs a session id. "list" shows those there are.`)
}

const UNITS: Record<string, number> = { '': 1, ms: 1, s: 1000, m: 60_000 }

/** `--timeout` in milliseconds. @throws {UsageError} */
function timeoutOf({ timeout }: Values): number | undefined {
  if (timeout === undefined) return undefined
  const [, digits, unit = ''] = /^0*([1-9]\d*)(ms|s|m)?$/.exec(timeout) ?? []
  if (digits === undefined) {
    throw new UsageError(`--timeout ${timeout}: expected milliseconds above 0, or a number with ms, s or m.`)
  }
  return Number(digits) * (UNITS[unit] ?? 1)
}

/** `--max-output` in bytes. @throws {UsageError} */
function maxOutputOf({ 'max-output': bytes }: Values): number | undefined {
  if (bytes === undefined) return undefined
  if (!/^\d+$/.test(bytes)) throw new UsageError(`--max-output ${bytes}: expected a number of bytes.`)
  return Number(bytes)
}
