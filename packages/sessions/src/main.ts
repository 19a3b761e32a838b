import { join, resolve } from 'node:path'
import { killRunningCommands } from '@delta/executor/command'
import packageJson from '../package.json' with { type: 'json' }
import { parseWords, UsageError, type Values } from './command/arguments.js'
import { COMMANDS } from './command/commands.js'
import { HELP } from './command/help.js'
import { currentDirectory, nameOf, print, type Terminal } from './command/terminal.js'
import { isSessionError } from './errors.js'

export type { Terminal } from './command/terminal.js'

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** Runs `delta-sessions` and resolves to its exit code: 0, 1 (failed), 2 (usage), 129/130/143 (signal). */
export async function main(terminal: Terminal): Promise<number> {
  const stop = new AbortController()
  let stoppedWith: number | undefined
  const listeners = Object.entries(SIGNALS).map(([name, code]) => {
    const signal = name as NodeJS.Signals
    const listener = () => {
      terminal.once?.(signal, listener) // first, or a signal that follows closely finds nobody listening
      if (stoppedWith !== undefined) killRunningCommands() // a second one waits for nobody
      stoppedWith ??= code
      stop.abort()
    }
    terminal.once?.(signal, listener)
    return { signal, listener }
  })
  try {
    const code = await dispatch(terminal, stop.signal)
    return stoppedWith ?? code
  } catch (error) {
    return stoppedWith ?? explain(error, terminal)
  } finally {
    for (const { signal, listener } of listeners) terminal.off?.(signal, listener)
  }
}

async function dispatch(terminal: Terminal, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parseWords(terminal.argv.slice(2))
  const [name, ...operands] = positionals
  if (values.version) return print(terminal, `${packageJson.version}\n`)
  if (values.help || name === 'help') {
    return print(terminal, HELP.replaceAll('delta-sessions', nameOf(terminal)))
  }

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
  terminal.stderr.write(`${nameOf(terminal)}: ${error instanceof Error ? error.message : String(error)}\n`)
  return error instanceof UsageError ? 2 : 1
}
