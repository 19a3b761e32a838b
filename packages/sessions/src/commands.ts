import { parseArgs } from 'node:util'
import { findDriver, noSessionsOf } from './drivers/driver-of.js'
import { endSession, endUnneeded, listSessions } from './end.js'
import { type ExecOptions, execForBytes, execInSession } from './exec.js'
import { startSession } from './start.js'

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

/** @throws {UsageError} */
export function parseWords(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError(explain(error))
  }
}

/** Node's own words, and ours where those lead astray. */
function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return `${message.split('.')[0]}. --help lists those there are. ${QUOTE_IT}`
  const [, option] = /^Option '(?:-\w, )?(--[\w-]+)/.exec(message) ?? []
  if (option === undefined) return message
  const takesNone = message.includes('does not take')
  return `${option}: ${takesNone ? 'takes no value' : 'needs a value, which cannot begin with a dash'}. --help says more.`
}

/** @throws {UsageError} There are more than `count` of them. */
function atMost(operands: readonly string[], count: number): readonly string[] {
  const surplus = operands[count]
  if (surplus === undefined) return operands
  throw new UsageError(`"${surplus}" is too much. ${QUOTE_IT}`)
}

const QUOTE_IT = 'Quote the command to run as one argument, or send it on stdin.'

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

async function readInput({ stdin }: Terminal): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer))
  return Buffer.concat(chunks).toString('utf8')
}

/** Prints a result, and returns the exit code of a command that worked. */
export function print(terminal: Terminal, text: string): number {
  terminal.stdout.write(text)
  return 0
}

function printJson(terminal: Terminal, value: unknown): number {
  return print(terminal, `${JSON.stringify(value, null, 2)}\n`)
}
