import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { cleanUpSessions } from './cleanup.js'
import { endSession } from './end.js'
import { isSessionError } from './errors.js'
import { execInSession } from './exec.js'
import { HELP } from './help.js'
import { listSessions } from './list.js'
import { startSession } from './start.js'

/** The part of `process` a command needs; `process` itself is one. */
export interface Terminal {
  /** As in `process`: the interpreter, the script, then what was typed. */
  argv: readonly string[]
  env: NodeJS.ProcessEnv
  cwd: string | (() => string)
  stdin: AsyncIterable<unknown>
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
  once?(signal: NodeJS.Signals, listener: () => void): unknown
  off?(signal: NodeJS.Signals, listener: () => void): unknown
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

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

class UsageError extends Error {}

type Values = ReturnType<typeof parse>['values']

interface Invocation {
  terminal: Terminal
  values: Values
  operands: string[]
  sessionsDirectory: string
  signal: AbortSignal
}

/** Runs `delta-sessions` and resolves to its exit code: 0, 1 (failed), 2 (usage), 129/130/143 (signal). */
export async function main(terminal: Terminal): Promise<number> {
  const stop = new AbortController()
  let stoppedWith: number | undefined
  const listeners = Object.entries(SIGNALS).map(([name, code]) => {
    const listener = () => {
      stoppedWith ??= code
      stop.abort()
    }
    return [name as NodeJS.Signals, listener] as const
  })
  for (const [name, listener] of listeners) terminal.once?.(name, listener)
  try {
    const code = await dispatch(terminal, stop.signal)
    return stoppedWith ?? code
  } catch (error) {
    return stoppedWith ?? explain(error, terminal)
  } finally {
    for (const [name, listener] of listeners) terminal.off?.(name, listener)
  }
}

async function dispatch(terminal: Terminal, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse(terminal.argv.slice(2))
  const [command, ...operands] = positionals
  if (values.version) return print(terminal, `${readVersion()}\n`)
  if (values.help || command === 'help' || command === undefined) {
    if (values.help || command) return print(terminal, HELP)
    throw new UsageError('Say what to do: start, exec, end, list or cleanup.')
  }
  const run = COMMANDS[command]
  if (!run)
    throw new UsageError(`There is no command "${command}". There are start, exec, end, list and cleanup.`)
  return await run({
    terminal,
    values,
    operands,
    sessionsDirectory: sessionsDirectory(terminal, values),
    signal,
  })
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    const hint = 'Quote the command to run as one argument, or send it on stdin.'
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n${hint}`)
  }
}

const COMMANDS: Record<string, (invocation: Invocation) => Promise<number>> = {
  async start({ terminal, values, operands, sessionsDirectory }) {
    const [program = 'bash'] = atMost(operands, 1)
    const started = await startSession(program, {
      sessionsDirectory,
      workDirectory: currentDirectory(terminal),
      environment: terminal.env,
      secretNames: values.secret ?? [],
    })
    return printJson(terminal, started)
  },

  async exec({ terminal, values, operands, sessionsDirectory, signal }) {
    const [id, given] = atMost(operands, 2)
    if (id === undefined)
      throw new UsageError('exec needs a session id: delta-sessions exec <session_id> [command]')
    const command = given ?? (await readAll(terminal.stdin))
    if (command.trim() === '')
      throw new UsageError('There is no command: give it as an argument, or on stdin.')
    const timeoutMs = values.timeout === undefined ? undefined : duration(values.timeout)
    const maxOutputBytes = values['max-output'] === undefined ? undefined : count(values['max-output'])
    const result = await execInSession(id, command, {
      sessionsDirectory,
      environment: terminal.env,
      signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(maxOutputBytes !== undefined && { maxOutputBytes }),
    })
    if (!values.raw) return printJson(terminal, result)
    terminal.stdout.write(result.stdout)
    terminal.stderr.write(result.stderr)
    for (const notice of result.notices ?? []) terminal.stderr.write(`delta-sessions: ${notice}\n`)
    return result.exit_code
  },

  async end({ terminal, operands, sessionsDirectory, signal }) {
    const [id] = atMost(operands, 1)
    if (id === undefined) throw new UsageError('end needs a session id: delta-sessions end <session_id>')
    return printJson(terminal, await endSession(id, { sessionsDirectory, signal }))
  },

  async list({ terminal, operands, sessionsDirectory }) {
    atMost(operands, 0)
    return printJson(terminal, listSessions(sessionsDirectory))
  },

  async cleanup({ terminal, values, operands, sessionsDirectory, signal }) {
    atMost(operands, 0)
    const runId = terminal.env.DELTA_RUN_ID
    const ended = await cleanUpSessions({
      sessionsDirectory,
      signal,
      ...(values.all && { all: true }),
      ...(runId !== undefined && { runId }),
    })
    return printJson(terminal, { status: 'terminated', session_ids: ended })
  },
}

/** `--sessions-dir`, or `.sessions` in the workspace, wherever in it a tool may be running. */
function sessionsDirectory(terminal: Terminal, values: Values): string {
  const cwd = currentDirectory(terminal)
  const given = values['sessions-dir']
  return given === undefined ? join(terminal.env.DELTA_CWD ?? cwd, '.sessions') : resolve(cwd, given)
}

function currentDirectory({ cwd }: Terminal): string {
  return typeof cwd === 'string' ? cwd : cwd()
}

function atMost(operands: readonly string[], count: number): readonly string[] {
  const surplus = operands[count]
  if (surplus === undefined) return operands
  throw new UsageError(
    `"${surplus}" is too much. Quote the command to run as one argument, or send it on stdin.`,
  )
}

const UNITS: Record<string, number> = { '': 1, ms: 1, s: 1000, m: 60_000 }

function duration(text: string): number {
  const [, digits, unit = ''] = /^(\d+)(ms|s|m)?$/.exec(text) ?? []
  if (digits === undefined)
    throw new UsageError(`--timeout ${text}: expected milliseconds, or a number with ms, s or m.`)
  return Number(digits) * (UNITS[unit] ?? 1)
}

function count(text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`--max-output ${text}: expected a number of bytes.`)
  return Number(text)
}

async function readAll(stdin: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer))
  return Buffer.concat(chunks).toString('utf8')
}

function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}

function print(terminal: Terminal, text: string): number {
  terminal.stdout.write(text)
  return 0
}

function printJson(terminal: Terminal, value: unknown): number {
  return print(terminal, `${JSON.stringify(value, null, 2)}\n`)
}

function explain(error: unknown, terminal: Terminal): number {
  const known = isSessionError(error) || error instanceof UsageError
  if (!known && terminal.env.DELTA_DEBUG) throw error
  terminal.stderr.write(`delta-sessions: ${error instanceof Error ? error.message : String(error)}\n`)
  return error instanceof UsageError ? 2 : 1
}
