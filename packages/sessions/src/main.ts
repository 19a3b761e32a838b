import { join, resolve } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { parseWords, UsageError, type Values } from './command/arguments.js'
import { COMMANDS } from './command/commands.js'
import { helpFor } from './command/help.js'
import { stopOnSignals } from './command/stop-on-signals.js'
import { currentDirectory, nameOf, print, type Terminal } from './command/terminal.js'
import { isSessionError, systemCode } from './errors.js'

export type { Terminal } from './command/terminal.js'

/** Runs `delta-sessions` and resolves to its exit code: 0, 1 (failed), 2 (usage), 129/130/143 (signal). */
export async function main(terminal: Terminal): Promise<number> {
  const stop = stopOnSignals(terminal)
  try {
    const exitCode = await dispatch(terminal, stop.signal)
    return stop.exitCode() ?? exitCode
  } catch (error) {
    return stop.exitCode() ?? explain(error, terminal)
  } finally {
    stop.end()
  }
}

async function dispatch(terminal: Terminal, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parseWords(terminal.argv.slice(2))
  const [name, ...operands] = positionals
  if (values.version) return print(terminal, `${packageJson.version}\n`)
  if (values.help || name === 'help') return print(terminal, helpFor(terminal))

  const known = [...COMMANDS.keys()].join(', ')
  if (name === undefined) throw new UsageError(`Say what to do: ${known}. --help says more.`)
  const command = COMMANDS.get(name)
  if (!command) throw new UsageError(`There is no command "${name}". There are ${known}.`)
  return await command({
    terminal,
    values,
    operands,
    sessionsDirectory: directoryOf(terminal, values),
    signal,
  })
}

/** `--sessions-dir`, or `.sessions` in the workspace, wherever in it a tool may be running. */
function directoryOf(terminal: Terminal, { 'sessions-dir': given }: Values): string {
  const cwd = currentDirectory(terminal)
  return given === undefined ? join(terminal.env.DELTA_CWD ?? cwd, '.sessions') : resolve(cwd, given)
}

function explain(error: unknown, terminal: Terminal): number {
  const known = isSessionError(error) || error instanceof UsageError
  if (!known && terminal.env.DELTA_DEBUG) throw error
  terminal.stderr.write(`${nameOf(terminal)}: ${visible(messageOf(error))}\n`)
  return error instanceof UsageError ? 2 : 1
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return NOT_WRITABLE.has(systemCode(error) ?? '') ? `${error.message}\n${REMEDY}` : error.message
}

/** A message may repeat what was typed, and a terminal would act on a control character in it. */
function visible(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
}

/** What a place may answer that is no good for keeping anything. */
const NOT_WRITABLE = new Set(['EACCES', 'EDQUOT', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS'])
const REMEDY =
  'Sessions are kept in files. See that there is room and that you may write there, or choose another place with --sessions-dir.'
