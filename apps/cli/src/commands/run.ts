import { isConfigError } from '@delta/config-loader'
import { continueRun, isEngineError, type RunResult, runAgent } from '@delta/engine'
import { changesInWords, changesSince } from '@delta/engine/internal'
import { isJournalError } from '@delta/journal'
import type { RunSummary } from '@delta/journal/runs'
import {
  isOwnRun,
  type ListedRun,
  listingOwnRuns,
  type OpenAgent,
  openAgent,
  ownRun,
  placeToWork,
  rememberPlace,
  type TrustedRun,
  trustedRun,
} from '@delta/workspace'
import { commandToContinue, isWithinRun } from '@delta/workspace/internal'
import { setLine, warnOf } from '../agent.js'
import { chooseWorkspace, keepWorkspace, removeCreatedDirectories } from '../choose-workspace.js'
import {
  type EngineFlags,
  type EngineSetting,
  engineOptions,
  exitCodeFor,
  maxIterationsIn,
  readMessage,
  withStopSignal,
} from '../engine-options.js'
import { describeError } from '../errors.js'
import { findResumable, isTaskOf } from '../find-resumable.js'
import { presenterFor } from '../presenter.js'
import type { Terminal } from '../terminal.js'
import { UsageError } from '../usage.js'

export interface RunFlags extends EngineFlags {
  agent: string
  message?: string
  workDir?: string
  runId?: string
  yes?: boolean
  new?: boolean
  task?: string
}

/** `delta run`: a new run, or it resumes an interrupted one of the same agent with the same message. */
export async function execute(flags: RunFlags, terminal: Terminal): Promise<number> {
  if (flags.task !== undefined) throw new UsageError('--task is now -m/--message: delta run -m "…"')
  if (flags.message === undefined)
    throw new UsageError('No task given. Use -m "…", -m @file or -m - (stdin).')

  maxIterationsIn(flags) // refuses a wrong value before a workspace is created
  const presenter = presenterFor(flags, terminal)
  const opened = await openAgent(flags.agent, { flags, surroundings: terminal })
  warnOf(opened, presenter.warn)
  const message = (await readMessage(flags.message, terminal)) ?? ''
  const workspace = await chooseWorkspace(
    { agentHome: opened.agent.home, workDir: flags.workDir, yes: flags.yes ?? false },
    terminal,
  )
  try {
    const place = placeToWork(workspace.directory, flags, terminal)
    const remember = rememberPlace(place, terminal)
    const begin = (runDirectory: string): void => {
      presenter.begin(runDirectory)
      keepWorkspace(workspace, flags)
      remember()
      if (workspace.unnamed && !flags.quiet) presenter.warn(workspace.unnamed.notice)
    }
    const result = await withStopSignal(terminal, presenter, (signal) => {
      const engine = { place, flags, terminal, presenter, signal }
      return resumeOrStart({ opened, message, engine, begin })
    })
    presenter.finish(result)
    return exitCodeFor(result)
  } catch (error) {
    removeCreatedDirectories(workspace)
    throw error
  }
}

interface Start {
  opened: OpenAgent
  message: string
  engine: EngineSetting & { flags: RunFlags }
  /** To be called with the run's directory: until then, the command may still be refused. */
  begin: (runDirectory: string) => void
}

/** Resumes the run that this command line would repeat, if there is one; otherwise starts a new one. */
async function resumeOrStart(start: Start, except: readonly string[] = []): Promise<RunResult> {
  const { place, terminal, presenter } = start.engine
  const earlier = await earlierRun(start, except)
  if (earlier === undefined) return startNew(start)
  const taken = await trustedRun(earlier, { place, env: terminal.env, mayStart: true })
  try {
    return await resume(start, taken)
  } catch (error) {
    if (!isTakenFromSubAgent(error, terminal)) throw error
    presenter.warn(`Another call has resumed run ${earlier.runId}.`)
    return resumeOrStart(start, [...except, earlier.runId])
  }
}

async function startNew({ opened, message, engine, begin }: Start): Promise<RunResult> {
  const { flags, terminal } = engine
  const list = listingOwnRuns(terminal.env)
  const options = { ...(await engineOptions(opened, engine)), allowed: opened.allowed }
  return runAgent({
    ...options,
    message,
    runId: flags.runId,
    onRun: (directory) => {
      list(directory, options, { begins: true })
      begin(directory)
    },
  })
}

async function resume(start: Start, { run, list, isNew }: TrustedRun): Promise<RunResult> {
  const { message, engine, begin } = start
  const other = isTaskOf(run, message) ? '' : '; response.txt answers its question, so -m is not used'
  engine.presenter.warn(`Resuming run ${run.runId} (${run.status})${other}. --new starts another one.`)
  const opened = await asSetBefore(start, run)
  if (run.overrides.length > 0) engine.presenter.warn(setLine(opened.agent))
  const { allowed } = opened
  const options = await engineOptions(opened, engine)
  return continueRun({
    ...options,
    run,
    trusted: true,
    onRun: (directory) => {
      list(directory, { ...options, allowed })
      begin(directory)
    },
    ...(isNew ? { allowed } : {}),
  })
}

/** The run that this command line would repeat, only where the workspace is named. stderr says why another run is not it. */
async function earlierRun(start: Start, except: readonly string[]): Promise<RunSummary | undefined> {
  const { opened, message, engine } = start
  const { place, flags, terminal, presenter } = engine
  const { env } = terminal
  const startsNew = flags.new || env.DELTA_NEW === '1'
  // a new run only looks whether the latest one is damaged
  const looks =
    flags.workDir !== undefined && flags.runId === undefined && !(startsNew && isWithinRun(terminal))
  if (!looks) return undefined
  const found = await findResumable({
    place,
    agent: opened.agent,
    message,
    env,
    changesOf: (each) => changesOf(each, start),
    except,
  })
  if (found === undefined) return undefined
  const { run, differs } = found
  if (run.problem !== undefined)
    presenter.warn(
      `Run ${run.runId} in this workspace is damaged, and was left as it is: ${describeError(run.problem)}`,
    )
  else if (startsNew) return undefined
  else if (differs === undefined) return run
  else if (isOwnRun(run.directory, env) && !isWithinRun(terminal))
    presenter.warn(
      `Run ${run.runId} (${run.status}) is not resumed, because ${differs}. Go on with it: ${commandToContinue(place, run.runId)}`,
    )
  return undefined
}

/** What has changed in the agent since the run's last start, in words. Nothing of another user's run, which is refused. */
async function changesOf(run: RunSummary, start: Start): Promise<string | undefined> {
  const own = ownRun(run, start.engine.terminal.env)
  if (own === undefined) return undefined
  try {
    const changes = changesInWords(changesSince(run, (await asSetBefore(start, own)).agent))
    return changes && `this has changed since it was last started: ${changes}`
  } catch (error) {
    if (!isConfigError(error)) throw error
    return 'the agent does not load with what was set for it'
  }
}

/** The agent with what was set for the run and allowed, though this command line does not say so again. Its warnings were shown. */
function asSetBefore({ engine }: Start, run: ListedRun): Promise<OpenAgent> {
  const { flags, terminal } = engine
  return openAgent(flags.agent, { flags, surroundings: terminal, run })
}

/** Two simultaneous calls of a sub-agent see the same interrupted run; the second finds it busy, or ended. */
function isTakenFromSubAgent(error: unknown, terminal: Terminal): boolean {
  const isBusy = isJournalError(error) && error.code === 'ERR_RUN_BUSY'
  const hasEnded = isEngineError(error) && error.code === 'ERR_ENGINE_MESSAGE_REQUIRED'
  return isWithinRun(terminal) && (isBusy || hasEnded)
}
