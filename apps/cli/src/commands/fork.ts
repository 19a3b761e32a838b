import { mkdirSync, realpathSync, rmdirSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { isInside } from '@delta/durable/internal'
import { continueRun, type Fork, forkRun } from '@delta/engine'
import { shortName } from '@delta/engine/internal'
import { quoteForPerson } from '@delta/executor'
import { cellPlaceOf, emptyRunError, nameOfCellAt } from '@delta/journal/internal'
import type { RunSummary } from '@delta/journal/runs'
import {
  forkedRun,
  type Going,
  type ListedRun,
  listingOwnRuns,
  type OpenAgent,
  openAgent,
  type Place,
  placeToWork,
  rememberPlace,
} from '@delta/workspace'
import { commandToContinue, explainSystemError, namedDirectory, placeOfRun } from '@delta/workspace/internal'
import { setLine, warnOf } from '../agent.js'
import {
  type EngineFlags,
  engineOptions,
  exitCodeFor,
  maxIterationsIn,
  readMessage,
  withStopSignal,
} from '../engine-options.js'
import { shownRun } from '../find-shown-run.js'
import { type Presenter, presenterFor } from '../presenter.js'
import { EXIT, type Terminal } from '../terminal.js'
import { counted, print, say } from '../text.js'
import { UsageError } from '../usage.js'

interface ForkFlags extends EngineFlags {
  at: string
  workDir: string
  into?: string
  message?: string
  agent?: string
  /** False: `--no-run`. */
  run: boolean
  withoutFiles?: boolean
  allowMissing?: boolean
}

/** `delta fork`: another run, in another workspace, that goes on from an iteration of a run. The run itself is only read. */
export async function execute(
  flags: ForkFlags,
  terminal: Terminal,
  named: string | undefined,
): Promise<number> {
  const at = iterationIn(flags)
  maxIterationsIn(flags) // refuses a wrong value before anything is made
  const presenter = presenterFor(flags, terminal)
  const run = readable(await shownRun({ workDir: flags.workDir }, terminal, named))
  const command = quoteForPerson(['delta', ...terminal.argv])
  const own = forkedRun(run, { env: terminal.env, agent: flags.agent, command })
  const making = {
    at,
    flags,
    terminal,
    presenter,
    ...(await openAgentOf(own, { flags, terminal, presenter })),
  }
  const { fork, place } = await makeFork(run, making)
  if (!flags.quiet) say(terminal, lineFor(fork, terminal))
  if (flags.run) return goOn(fork, { ...making, place })
  printFork(fork, flags, terminal)
  return EXIT.completed
}

/** An agent, and what its fork or replay is listed with, as this user's. */
export interface OpenedAgent {
  opened: OpenAgent
  going: Going & { agent: OpenAgent['agent'] }
}

/**
 * The agent of a fork or a replay. What was allowed a run of one's own is still allowed.
 *
 * @param check - Called before anything is said of the agent; may throw.
 */
export async function openAgentOf(
  own: ListedRun | undefined,
  {
    flags,
    terminal,
    presenter,
    check,
  }: {
    flags: EngineFlags & { agent?: string }
    terminal: Terminal
    presenter: Presenter
    check?: (opened: OpenAgent) => void
  },
): Promise<OpenedAgent> {
  const opened = await openAgent(flags.agent, { flags, surroundings: terminal, run: own })
  check?.(opened)
  warnOf(opened, presenter.warn)
  const { agent, setByTools } = opened
  if (agent.snapshot.overrides.length > 0) presenter.warn(setLine(agent))
  const importRoots = [...(own?.allowed?.import_roots ?? []), ...(opened.allowed.importRoots ?? [])]
  return { opened, going: { agent, allowed: { importRoots }, setByTools } }
}

interface Making extends OpenedAgent {
  at: number
  flags: ForkFlags
  terminal: Terminal
  presenter: Presenter
}

async function makeFork(run: RunSummary, making: Making): Promise<{ fork: Fork; place: Place }> {
  const { at, flags, terminal, going } = making
  const { env } = terminal
  const message = await readMessage(flags.message, terminal)
  const list = listingOwnRuns(env)
  const into = workspaceFor(run, making)
  try {
    const place = placeToWork(into.directory, flags, terminal)
    const remember = rememberPlace(place, terminal)
    const fork = await forkRun({
      ...place,
      run: run.directory,
      at,
      into: into.directory,
      message,
      agent: going.agent,
      allowed: going.allowed,
      files: flags.withoutFiles ? 'without' : flags.allowMissing ? 'allow_missing' : 'require',
      env,
      sync: flags.sync,
      maxIterations: maxIterationsIn(flags),
      onRun: (directory) => {
        list(directory, going, { begins: true })
        remember()
      },
    })
    return { fork, place }
  } catch (error) {
    into.remove()
    throw error
  }
}

/** As `delta continue` does. A key or an address that is missing, or refused, leaves the fork as it was made. */
async function goOn(
  fork: Fork,
  { flags, terminal, opened, going, presenter, place }: Making & { place: Place },
): Promise<number> {
  const list = listingOwnRuns(terminal.env)
  let goesOn = false
  try {
    const result = await withStopSignal(terminal, presenter, async (signal) => {
      const options = await engineOptions(opened, { place, flags, terminal, presenter, signal })
      return continueRun({
        ...options,
        allowed: going.allowed,
        runId: fork.runId,
        trusted: true,
        onRun: (directory) => {
          list(directory, { ...options, ...going }, { begins: true })
          presenter.begin(directory)
          goesOn = true
        },
      })
    })
    presenter.finish(result, { more: { work_dir: fork.workDirectory, parent: fork.parent } })
    return exitCodeFor(result)
  } catch (error) {
    if (!goesOn) say(terminal, goOnWith(fork))
    throw error
  }
}

export function iterationIn({ at }: { at: string }): number {
  if (/^\d{1,9}$/.test(at)) return Number(at)
  throw new UsageError(`--at ${at}: give the number of an iteration, or 0 for the task alone.`)
}

export function readable(run: RunSummary): RunSummary {
  if (run.problem !== undefined) throw run.problem
  if (run.status === 'EMPTY') throw emptyRunError(run.directory)
  return run
}

/** The fork's workspace, and how to remove it if the fork fails. */
interface ForkWorkspace {
  directory: string
  remove: () => void
}

/** The one that was typed, or a new directory here: `<workspace>-fork-7`, then `-fork-7-2`; of a cell by its name. Where this is in the run's own workspace, beside that. */
function workspaceFor(run: RunSummary, { at, flags, terminal }: Making): ForkWorkspace {
  if (flags.into !== undefined)
    return { directory: namedDirectory(flags.into, terminal, '--into'), remove: () => undefined }
  const { workDirectory } = placeOfRun(run.directory)
  const original = statSync(workDirectory, { throwIfNoEntry: false })
  const mode = 0o700 | ((original?.mode ?? 0) & 0o777)
  const isWithin = original && isInside(terminal.cwd, realpathSync(workDirectory))
  const above = isWithin ? dirname(realpathSync(workDirectory)) : terminal.cwd
  const cell = cellPlaceOf(run.directory)
  const named = cell && nameOfCellAt(cell)?.replaceAll('/', '-')
  const name = `${named ?? basename(workDirectory)}-fork-${at}`
  for (let count = 1; ; count++) {
    const directory = join(above, count === 1 ? name : `${name}-${count}`)
    try {
      mkdirSync(directory, { mode }) // what nobody else may read stays so
      return { directory, remove: () => removeEmpty(directory) }
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue
      const why = explainSystemError(cause) ?? (cause as Error).message
      throw new UsageError(`${directory}: ${why}\nName another workspace: --into <directory>`, { cause })
    }
  }
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // something is in it; the error that stopped the fork matters more
  }
}

function lineFor({ runId, workDirectory, parent, files }: Fork, { cwd }: Terminal): string {
  const way = relative(cwd, workDirectory)
  const shown = way.startsWith('../..') ? workDirectory : way.startsWith('..') ? way : `./${way}`
  const what =
    files === undefined ? 'without files, in' : `${counted(files.files, 'file')} (${inBytes(files.bytes)}) in`
  const line = `fork ${runId} of ${shortName(parent.run_id)} at iteration ${parent.iteration}: ${what} ${shown}`
  if (!files?.leftOutCount) return line
  const { leftOut, leftOutCount: count } = files
  const more = count > MOST_NAMED ? `, and ${count - MOST_NAMED} more` : ''
  return `${line}\nnot in it: ${leftOut.slice(0, MOST_NAMED).join(', ')}${more}`
}

const MOST_NAMED = 5

function inBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

function goOnWith({ directory, runId }: Fork): string {
  return `The fork is there, and has not gone on. Go on with: ${commandToContinue(placeOfRun(directory), runId)}`
}

/** On stdout, what a script needs to go on with it. */
function printFork({ runId, workDirectory, parent }: Fork, { format }: ForkFlags, terminal: Terminal): void {
  const about = { run_id: runId, work_dir: workDirectory, parent, status: 'INTERRUPTED' }
  const isJson = format === 'json' || format === 'stream-json'
  print(terminal, isJson ? `${JSON.stringify(about)}\n` : `${runId}\t${workDirectory}\n`)
}
