import { existsSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { ConfigError, ConfigProblem } from '@delta/config-loader'
import type { EngineError } from '@delta/engine'
import { quoteForPerson } from '@delta/executor'
import type { JournalError } from '@delta/journal'
import { journalPath } from '@delta/journal/internal'
import { readRun } from '@delta/journal/runs'
import { commandAt, commandToContinue, explainSystemError, placeOfRun } from '@delta/workspace/internal'
import { newRun, nextCommandOf } from './next-command.js'
import { EXIT, SIGNAL_EXIT, type Terminal } from './terminal.js'
import { printable } from './text.js'
import { ISSUES } from './usage.js'

/** Errors that a person can fix on the command line or in a file; the rest are failures of the run. */
const USAGE_CODES = [
  /^ERR_CLI_/,
  /^ERR_WORKSPACE/,
  /^ERR_CONFIG/,
  /^ERR_EVAL_(?!CELL)/,
  /^ERR_TOOL/,
  /^ERR_MCP_FILE/,
  /^ERR_ENGINE_(RUN_NOT_FOUND|OTHER_WORKSPACE|MESSAGE_REQUIRED|NO_RETRY|NO_CREDENTIALS|NO_PRICE|NO_AGENT|NO_ANSWER|NOT_WAITING|IMPORTED|REPLAY|FORK_)/,
  /^ERR_REQUEST_NOT_FOUND/,
  /^ERR_RUN_(NOT_FOUND|EXISTS|ID)/,
  /^ERR_RUNS_DIRECTORY/,
]

/** Prints what went wrong, without a stack trace unless `DELTA_DEBUG` is set, and returns the exit code. */
export async function reportFailure(terminal: Terminal, error: unknown): Promise<number> {
  return print(
    terminal,
    error,
    [describeError(error, terminal.argv), ...(await moreAbout(error, terminal))].join('\n'),
  )
}

/** Prints an error that no command caught, and returns the exit code. Unless it came from the system, it is a bug of ours. */
export function reportUncaught(terminal: Terminal, error: unknown): number {
  const exitCode = print(terminal, error, describeError(error))
  if (explained(error) === undefined)
    terminal.stderr.write(
      `This is a bug in Delta. Please report it, with what DELTA_DEBUG=1 adds: ${ISSUES}\n`,
    )
  return exitCode
}

function print({ stderr, env }: Terminal, error: unknown, message: string): number {
  stderr.write(`${printable(`Error: ${message}`)}\n`)
  if (env.DELTA_DEBUG && error instanceof Error) stderr.write(`${printable(error.stack ?? '')}\n`)
  return exitCodeOf(error)
}

/**
 * An error in words: what went wrong, and the commands that lead on.
 *
 * @param typed - The arguments of the command that failed: the trust in a run that they say is kept in the next command.
 */
export function describeError(error: unknown, typed: readonly string[] = []): string {
  const system = explained(error)
  if (system !== undefined) return system
  const message = error instanceof Error ? error.message : String(error)
  const { code } = Object(error) as { code?: string }
  const first =
    code === 'ERR_RUN_BUSY' ? ['Run is currently executing. Wait for completion or interrupt first.'] : []
  const said = code === 'ERR_ENGINE_MESSAGE_REQUIRED' ? `${message} using -m/--message` : message
  return [...first, said, ...waysOut(error, typed)].join('\n')
}

/** What errors of the libraries say about it. */
type ErrorDetails = Pick<EngineError, 'wayOut' | 'path'> & Pick<ConfigError, 'problems'>

/** The lines that say how to go on, where the library that threw the error does not know the commands. */
export function waysOut(error: unknown, typed: readonly string[] = []): string[] {
  const { wayOut: way, path, problems } = Object(error) as Partial<ErrorDetails>
  if (problems !== undefined) return [...new Set(problems.flatMap(wayAround))]
  if (way === 'without_files') {
    const command = quoteForPerson(['delta', ...typed, '--without-files'])
    if (typed[0] === 'replay') return [`To run the commands without them: ${command}`]
    return [
      `To fork the conversation alone: ${command} (an --into directory may then hold the files you want)`,
    ]
  }
  if (way === 'agent') return ['Say where the agent is with --agent <directory>.']
  const run = path === undefined ? undefined : runAt(path)
  if (run === undefined) return way === 'start' ? ['Hint: Use `delta run` to start a new run'] : []
  if (typed[0] === 'eval' && way !== 'show') return [] // the runs of an evaluation go on with it
  const place = placeOfRun(run)
  const id = basename(run)
  const resume = commandToContinue(place, id) + (typed.includes('--trust-run') ? ' --trust-run' : '')
  switch (way) {
    case 'take':
      return [`To take the run from it: ${resume} --force`]
    case 'continue':
      return [`Go on with: ${resume}`]
    case 'message':
      return [`Example: ${resume} -m "Now do something else"`]
    case 'repair':
      return [`To set it aside: ${commandAt(place, 'journal', 'repair', id)}`]
    case 'show':
      return [`To look at it: ${commandAt(place, 'show', id)}`]
    case 'list':
      return [`To see which runs there are: ${commandAt(place, 'list-runs')}`]
    case 'start':
      return [newRun(place)]
    case undefined:
      return []
    default:
      return way satisfies never
  }
}

const NO_MODEL_AT_ALL =
  '  no model at all   delta init demo -t hello-world && delta run --agent demo -m "hello"   (a script answers)'

/** The flag that allows what was refused, for a person who trusts it; without an agent, the command that makes one. */
function wayAround({ allowedBy, noAgentIn }: ConfigProblem): string[] {
  if (noAgentIn !== undefined) {
    if (existsSync(noAgentIn) && !statSync(noAgentIn).isDirectory())
      return [`Write its directory: --agent ${quoteForPerson([dirname(noAgentIn)])}`]
    const directory = noAgentIn === '.' ? 'my-agent' : noAgentIn
    return [`Name the directory of an agent, or make one: ${quoteForPerson(['delta', 'init', directory])}`]
  }
  if (allowedBy === undefined) return []
  return allowedBy.option === 'importRoots'
    ? [`To allow it: --import-root ${quoteForPerson([allowedBy.value])}`]
    : ['To allow it: --trust-workspace-env']
}

/**
 * Lines that need more than the error: the answer of the run that needs a message or the way to retry it, how a message reaches one that
 * runs, and the model that needs no key.
 */
async function moreAbout(error: unknown, { argv, env }: Pick<Terminal, 'argv' | 'env'>): Promise<string[]> {
  const { code, path } = Object(error) as Partial<EngineError | JournalError>
  if (code === 'ERR_RUN_BUSY') return waysToSay(path, { argv, env })
  if (code === 'ERR_ENGINE_NO_CREDENTIALS' && !env.DELTA_PARENT_RUN) return [NO_MODEL_AT_ALL]
  if (path === undefined || code !== 'ERR_ENGINE_MESSAGE_REQUIRED') return []
  const run = await readRun(path, { tolerant: true }).catch(() => undefined) // the error itself is printed
  if (run === undefined) return []
  if (run.status === 'COMPLETED')
    return [`Its answer: ${commandAt(placeOfRun(path), 'show', run.runId, '--answer')}`]
  return nextCommandOf(run)
}

/** For a message to a run that runs, which `delta continue` refuses. A run speaks to nobody so. */
function waysToSay(path: string | undefined, { argv, env }: Pick<Terminal, 'argv' | 'env'>): string[] {
  const isMessage = argv[0] === 'continue' && argv.some((word) => /^(-m|--message)/.test(word))
  const run = path === undefined ? undefined : runAt(path)
  if (!isMessage || run === undefined || env.DELTA_RUN_ID !== undefined) return []
  return [`To say it to the run while it works: ${commandAt(placeOfRun(run), 'say', basename(run))} -m …`]
}

/** The run in whose directory a path lies, of either layout; outside a workspace it is known by its journal. */
function runAt(path: string): string | undefined {
  const [run] = /^.*\/\.delta\/(?:runs\/)?[^/]+/s.exec(path) ?? []
  return run ?? withJournal(path)
}

function withJournal(directory: string): string | undefined {
  if (directory === '' || directory === dirname(directory)) return undefined
  return existsSync(journalPath(directory)) ? directory : withJournal(dirname(directory))
}

/** Explains an error that came directly from the system, with its path if it has one. */
function explained(error: unknown): string | undefined {
  const { dest, path, syscall } = Object(error) as NodeJS.ErrnoException & { dest?: string }
  const reason = explainSystemError(error)
  return reason && `${dest ?? path ?? syscall}: ${reason}`
}

function exitCodeOf(error: unknown): number {
  const { code = '', signal = '' } = Object(error) as { code?: unknown; signal?: string }
  if (code === 'ERR_RUN_BUSY') return EXIT.busy
  if (code === 'ERR_CLI_STOPPED') return SIGNAL_EXIT[signal] ?? EXIT.failed
  if (/^ERR_MCP_(?!FILE)/.test(String(code))) return EXIT.protocol
  return USAGE_CODES.some((pattern) => pattern.test(String(code))) ? EXIT.usage : EXIT.failed
}
