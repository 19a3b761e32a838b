import { join, resolve } from 'node:path'
import { killRunningCommands } from '@delta/executor'
import packageJson from '../package.json' with { type: 'json' }
import {
  COMMANDS,
  currentDirectory,
  nameOf,
  parseWords,
  print,
  type Terminal,
  UsageError,
  type Values,
} from './commands.js'
import { isSessionError, systemCode } from './errors.js'
import { helpFor } from './help.js'

export type { Terminal } from './commands.js'

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

/** What a place may answer that is no good for keeping anything. */
const NOT_WRITABLE = new Set(['EACCES', 'EDQUOT', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS'])
const REMEDY =
  'Sessions are kept in files. See that there is room and that you may write there, or choose another place with --sessions-dir.'

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/**
 * The first signal stops in order; a second one waits for nobody, and kills what runs.
 *
 * @returns What the first one aborts, with its exit code as the reason; and what ends the listening.
 */
function stopOnSignals(terminal: Terminal): { signal: AbortSignal; end: () => void } {
  const stop = new AbortController()
  const listeners = Object.entries(EXIT_CODES).map(([name, code]) => {
    const signal = name as NodeJS.Signals
    const listener = () => {
      terminal.once?.(signal, listener) // first, or a signal that follows closely finds nobody listening
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
