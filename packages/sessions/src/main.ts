import { lstatSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { killRunningCommands } from '@delta/executor'
import packageJson from '../package.json' with { type: 'json' }
import { cleanUpSessions } from './clean-up.js'
import { isSupported, unsupportedMessage } from './drivers/driver-of.js'
import { endSession } from './end.js'
import { isSessionError, systemCode } from './errors.js'
import { execForBytes } from './exec.js'
import { helpFor } from './help.js'
import { listSessions } from './list.js'
import { startSession } from './start.js'

/** The part of `process` a command needs; `process` itself is one. */
export interface Terminal {
  /** What was typed to start it, for help and messages. Default `delta-sessions`. */
  name?: string
  /** As in `process`: the interpreter, the script, then what was typed. */
  argv: readonly string[]
  env: NodeJS.ProcessEnv
  /** Where relative paths start. */
  cwd: string | (() => string)
  stdin: AsyncIterable<unknown>
  /** Text, and with `exec --raw` the bytes that a command printed. */
  stdout: { write(output: string | Uint8Array): unknown; isTTY?: boolean; columns?: number }
  stderr: { write(output: string | Uint8Array): unknown }
  /** Without it, signals do what they do to any program. */
  once?(signal: NodeJS.Signals, listener: () => void): unknown
  off?(signal: NodeJS.Signals, listener: () => void): unknown
}

/** Runs `delta-sessions` and resolves to its exit code: 0, 1 (failed), 2 (usage), 129/130/143 (signal). */
export async function main(terminal: Terminal): Promise<number> {
  const { signal, end } = stopOnSignals(terminal)
  try {
    const exitCode = await dispatch(terminal, signal)
    return signal.reason ?? exitCode
  } catch (error) {
    return signal.reason ?? explain(error, terminal)
  } finally {
    end()
  }
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/**
 * The first signal stops in order; a second one kills what runs, at once.
 *
 * @returns What the first one aborts, with its exit code as the reason; and what ends the listening.
 */
function stopOnSignals(terminal: Terminal): { signal: AbortSignal; end: () => void } {
  const stop = new AbortController()
  const listeners = Object.entries(EXIT_CODES).map(([name, code]) => {
    const signal = name as NodeJS.Signals
    const listener = () => {
      terminal.once?.(signal, listener) // first, so that a signal that follows closely is heard
      if (stop.signal.aborted) killRunningCommands()
      stop.abort(code)
    }
    terminal.once?.(signal, listener)
    return { signal, listener }
  })
  return {
    signal: stop.signal,
    end: () => {
      for (const { signal, listener } of listeners) terminal.off?.(signal, listener)
    },
  }
}

/** What was typed makes no sense; the message says what would. */
class UsageError extends Error {}

async function dispatch(terminal: Terminal, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parseWords(terminal.argv.slice(2))
  const [name, ...operands] = positionals
  if (values.version) return print(terminal, `${packageJson.version}\n`)
  if (values.help || name === 'help') return print(terminal, helpFor(nameOf(terminal), terminal.stdout))

  const known = Object.keys(COMMANDS).join(', ')
  if (name === undefined) throw new UsageError(`Say what to do: ${known}. --help says more.`)
  const command = Object.entries(COMMANDS).find(([each]) => each === name)?.[1]
  if (!command) throw new UsageError(`There is no command "${name}". There are ${known}.`)
  const cwd = typeof terminal.cwd === 'string' ? terminal.cwd : terminal.cwd()
  const given = values['sessions-dir']
  // by default in the workspace, wherever in it a tool is running
  const sessionsDirectory =
    given === undefined ? ownDirectory(terminal.env.DELTA_CWD ?? cwd) : resolve(cwd, given)
  return await command({ terminal, values, operands, cwd, sessionsDirectory, signal })
}

/** A link may have come with the workspace, or a tool made it, and then leads to states that are someone else's code. */
function ownDirectory(workspace: string): string {
  const path = join(workspace, '.sessions')
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path
  throw new UsageError(`${path} is a link. Remove it, or say where the sessions are with --sessions-dir.`)
}

interface Invocation {
  terminal: Terminal
  values: Values
  operands: readonly string[]
  cwd: string
  sessionsDirectory: string
  signal: AbortSignal
}

type Command = (invocation: Invocation) => number | Promise<number>

/** Each takes what was typed, makes one library call, prints, and returns an exit code. */
const COMMANDS: Record<string, Command> = {
  async start({ terminal, values, operands, cwd, sessionsDirectory }) {
    const [program = 'bash'] = atMost(operands, 1)
    if (!isSupported(program)) throw new UsageError(unsupportedMessage(program))
    const options = { sessionsDirectory, cwd, env: terminal.env, secretNames: values.secret }
    return printJson(terminal, await startSession(program, options))
  },

  async exec({ terminal, values, operands, sessionsDirectory, signal }) {
    const [id = withoutId('exec'), given] = atMost(operands, 2)
    const command = given ?? (await text(terminal.stdin))
    if (command.trim() === '') {
      throw new UsageError('There is no command: give it as an argument, or on stdin.')
    }
    const { result, stdout, stderr } = await execForBytes(id, command, {
      sessionsDirectory,
      env: terminal.env,
      signal,
      timeoutMs: timeoutOf(values),
      maxOutputBytes: maxOutputOf(values),
    })
    if (!values.raw) return printJson(terminal, result)
    terminal.stdout.write(stdout)
    terminal.stderr.write(stderr)
    const notKept = (result.notKept ?? []).map(({ name, reason }) => `${name} is not kept: ${reason}`)
    for (const notice of [...notKept, ...(result.notices ?? [])]) {
      terminal.stderr.write(`${nameOf(terminal)}: ${notice}\n`)
    }
    return result.exitCode
  },

  async end({ terminal, values, operands, sessionsDirectory, signal }) {
    const [id = withoutId('end')] = atMost(operands, 1)
    const options = { sessionsDirectory, signal, timeoutMs: timeoutOf(values) }
    return printJson(terminal, await endSession(id, options))
  },

  list({ terminal, operands, sessionsDirectory }) {
    atMost(operands, 0)
    return printJson(terminal, listSessions(sessionsDirectory))
  },

  async cleanup({ terminal, values, operands, sessionsDirectory, signal }) {
    atMost(operands, 0)
    const ended = await cleanUpSessions({
      sessionsDirectory,
      signal,
      timeoutMs: timeoutOf(values),
      all: values.all,
      runId: terminal.env.DELTA_RUN_ID,
    })
    const notices = ended.flatMap(({ sessionId, notices = [] }) =>
      notices.map((notice) => `${sessionId}: ${notice}`),
    )
    return printJson(terminal, {
      status: 'terminated',
      sessionIds: ended.map(({ sessionId }) => sessionId),
      ...(notices.length > 0 && { notices }),
    })
  },
}

/** Prints a result, and returns the exit code of a command that worked. */
function print(terminal: Terminal, output: string): number {
  terminal.stdout.write(output)
  return 0
}

function printJson(terminal: Terminal, value: object): number {
  return print(terminal, `${JSON.stringify(inSnakeCase(value), null, 2)}\n`)
}

/** The JSON that is printed names its members as the files of a session do: `exit_code` for `exitCode`. */
function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSnakeCase)
  if (typeof value !== 'object' || value === null) return value
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snake(name), inSnakeCase(member)]))
}

function nameOf({ name = 'delta-sessions' }: Terminal): string {
  return name
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

type Values = ReturnType<typeof parseWords>['values']

/** @throws {UsageError} */
function parseWords(words: readonly string[]) {
  const config = { args: [...words], options: OPTIONS, allowPositionals: true }
  try {
    return parseArgs(config)
  } catch {
    // Node's message advises `--` for words that begin with a dash, which would split a command.
    const { tokens } = parseArgs({ ...config, strict: false, tokens: true })
    const fault = tokens.map((token) => token.kind === 'option' && faultOf(token)).find(Boolean)
    throw new UsageError(`${fault}\n--help lists the options. ${QUOTE_IT}`)
  }
}

/** What is wrong with an option that was typed, as a sentence; undefined for a right one. */
function faultOf({ name, rawName, value, inlineValue }: OptionToken): string | undefined {
  const option = Object.entries(OPTIONS).find(([each]) => each === name)?.[1]
  if (!option) return `There is no option ${rawName}.`
  if (option.type === 'boolean') return value === undefined ? undefined : `${rawName} takes no value.`
  if (value === undefined) return `${rawName} needs a value.`
  return inlineValue || !value.startsWith('-')
    ? undefined
    : `${rawName} needs a value, and ${value} may be an option: write ${rawName}=${value}.`
}

interface OptionToken {
  name: string
  rawName: string
  value: string | undefined
  inlineValue: boolean | undefined
}

/** @throws {UsageError} There are more than `count` of them. */
function atMost(operands: readonly string[], count: number): readonly string[] {
  const surplus = operands[count]
  if (surplus === undefined) return operands
  throw new UsageError(`"${surplus}" is too much. ${QUOTE_IT}`)
}

const QUOTE_IT = 'Quote the command to run as one argument, or send it on stdin.'

function withoutId(command: string): never {
  throw new UsageError(`${command} needs a session id. "list" shows the sessions.`)
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

function explain(error: unknown, terminal: Terminal): number {
  const known = isSessionError(error) || error instanceof UsageError
  if (!known && terminal.env.DELTA_DEBUG) throw error
  const remedy = NOT_WRITABLE.has(systemCode(error) ?? '') ? `\n${REMEDY}` : ''
  terminal.stderr.write(`${nameOf(terminal)}: ${visible((error as Error).message)}${remedy}\n`)
  return error instanceof UsageError ? 2 : 1
}

/** A message may repeat what was typed, and a terminal would act on a control character in it. */
function visible(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
}

/** System errors of a place where nothing can be stored. */
const NOT_WRITABLE = new Set(['EACCES', 'EDQUOT', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS'])
const REMEDY =
  'Sessions are kept in files. See that there is room and that you may write there, or choose another place with --sessions-dir.'
