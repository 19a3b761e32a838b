import { join, resolve } from 'node:path'
import { killRunningCommands } from '@delta/executor/command'
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

export type { Terminal } from './commands.js'

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

/** What `--help` prints, in lines of the terminal's width, or of 80 columns: paragraphs, and tables whose last column keeps its place. */
function helpFor(terminal: Terminal): string {
  const { isTTY, columns } = terminal.stdout
  const width = isTTY && columns ? columns : 80
  const lines = HELP.replaceAll('delta-sessions', nameOf(terminal)).split('\n')
  return lines.flatMap((line) => fitted(line, width)).join('\n')
}

function fitted(line: string, width: number): string[] {
  const [start] = line.startsWith(' ') ? (/^ +\S.*? {2,}(?=\S)/.exec(line) ?? []) : ['']
  if (start === undefined || width - start.length < NARROWEST) return [line] // an example is code
  const lines: string[] = []
  for (const word of line.slice(start.length).split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && start.length + last.length + 1 + word.length <= width)
      lines.push(`${lines.pop()} ${word}`)
    else lines.push(word)
  }
  return lines.map((text, index) => (index === 0 ? start : ' '.repeat(start.length)) + text)
}

/** With less room than this, a column would become one of single words. */
const NARROWEST = 15

/** A paragraph, or a row of a table, is one line. */
const HELP = `delta-sessions: a shell that remembers, without a process that lives

  delta-sessions start [bash|sh|python3]   make a session, print its id
  delta-sessions exec <id> [command]       run a command in it; without one, what is on stdin
  delta-sessions end <id>                  end what it left running, remove it
  delta-sessions list                      print the sessions there are
  delta-sessions cleanup                   end the sessions of this run (DELTA_RUN_ID); \
outside a run, those unused for 24 hours

  --sessions-dir <path>   where sessions live (default: .sessions in the workspace)
  --timeout <time>        exec: limit, as 30s, 2m, or a number of milliseconds; \
end, cleanup: how long a running command may go on (default: 5s)
  --max-output <bytes>    exec: how much of stdout and of stderr to print (default: 16384)
  --raw                   exec: plain output and the command's exit code, instead of JSON
  --secret <name>         start: a variable whose value is never stored; may be repeated
  --all                   cleanup: every session

Each command is a new process, which begins with what the last one left: in bash \
the directory, environment, variables, functions, aliases and options; in sh \
what of these it can list; in python3 variables, imports, functions, classes.

Example:
  id=$(delta-sessions start | jq -r .session_id)
  delta-sessions exec "$id" 'cd src && NAME=Ada'
  delta-sessions exec "$id" --raw 'echo "$NAME is in $PWD"'
  delta-sessions end "$id"

Results are JSON on stdout. Exit codes: 0 done (exec: the command ran, whatever \
it returned), 1 failed, 2 wrong usage, 129, 130, 143 stopped by a signal.
`

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** What signals want of a command that is running. */
interface Stop {
  /** Aborted by the first one. */
  signal: AbortSignal
  /** Of the first one; undefined as long as none has come. */
  exitCode(): number | undefined
  /** Listens no more. */
  end(): void
}

/** The first signal stops in order; a second one waits for nobody, and kills what runs. */
function stopOnSignals(terminal: Terminal): Stop {
  const stop = new AbortController()
  let exitCode: number | undefined
  const listeners = Object.entries(EXIT_CODES).map(([name, code]) => {
    const signal = name as NodeJS.Signals
    const listener = () => {
      terminal.once?.(signal, listener) // first, or a signal that follows closely finds nobody listening
      if (exitCode !== undefined) killRunningCommands()
      exitCode ??= code
      stop.abort()
    }
    terminal.once?.(signal, listener)
    return { signal, listener }
  })
  return {
    signal: stop.signal,
    exitCode: () => exitCode,
    end() {
      for (const { signal, listener } of listeners) terminal.off?.(signal, listener)
    },
  }
}
