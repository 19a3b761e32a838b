import { isConfigError } from '@delta/config-loader'
import { changeNotice, changesSince } from '@delta/engine/internal'
import { isJournalError, streamJournal } from '@delta/journal'
import { emptyRunError, journalPath } from '@delta/journal/internal'
import {
  isKnownEvent,
  type RunSummary,
  readRequest,
  readRun,
  runEventSchema,
  type StoredEvent,
} from '@delta/journal/runs'
import {
  isOwnRun,
  openAgentOf,
  ownRun,
  placeToLook,
  type RunsFlags,
  WorkspaceError,
  withAllowed,
} from '@delta/workspace'
import { describeError } from '../errors.js'
import { nextCommandOf } from '../next-command.js'
import { renderer, styleFor } from '../render.js'
import {
  type CallFilter,
  callFilter,
  childFinder,
  contextOfStep,
  findShownRun,
  followJournal,
  mayBegin,
} from '../shown-run.js'
import { EXIT, type Terminal } from '../terminal.js'
import { counted, print, printAnswer, say } from '../text.js'
import { UsageError, wholeNumber } from '../usage.js'

interface ShowFlags extends CallFilter, RunsFlags {
  workDir: string
  step?: string
  request?: string
  answer?: boolean
  follow?: boolean
  verbose?: boolean
  json?: boolean
}

/** `delta show`: a run as its journal tells it. Only reads, so it can be used while the run is going on. */
export async function execute(
  flags: ShowFlags,
  terminal: Terminal,
  runId: string | undefined,
): Promise<number> {
  const run = await findShownRun(placeToLook(flags, terminal), runId)
  refuseEmpty(run, flags)
  if (flags.request !== undefined) {
    print(terminal, await requestOf(run, flags.request))
    return EXIT.completed
  }
  if (flags.answer) return showAnswer(run, terminal)
  await showEvents(run, flags, terminal)
  if (flags.step !== undefined) return EXIT.completed
  if (!flags.json) await sayChanges(run, terminal)
  if (flags.follow || !flags.json) await sayHowToGoOn(run.directory, flags, terminal)
  return EXIT.completed
}

/**
 * The events for people, or as in the journal; those of one iteration in full, after what the model saw before it.
 *
 * @throws {UsageError} The run does not have that iteration, or has not called that tool.
 */
async function showEvents(run: RunSummary, flags: ShowFlags, terminal: Terminal): Promise<void> {
  const step = flags.step === undefined ? undefined : wholeNumber('--step', flags.step)
  const render = renderer({
    style: styleFor(terminal.stdout, terminal.env),
    verbose: flags.verbose === true || step !== undefined,
    transcript: true,
    columns: terminal.stdout.columns,
  })
  const withChildren = flags.json ? undefined : childFinder(run)
  const show = (event: StoredEvent): void => {
    if (flags.json) print(terminal, `${JSON.stringify(event)}\n`)
    else for (const line of render({ kind: 'journal', event })) terminal.stdout.write(`${line}\n`) // already safe, and coloured
  }
  const chosen = callFilter(flags)
  const events = flags.follow
    ? followJournal(run, { onLeft: (left) => sayWatched(left, terminal) })
    : streamJournal(journalPath(run.directory), { schema: runEventSchema })
  let hasStep = false
  let hasShown = false
  const called = new Set<string>()
  for await (const read of events) {
    const event = (await withChildren?.(read)) ?? read
    if (isKnownEvent(event) && event.type === 'THOUGHT')
      for (const { name } of event.tool_calls) called.add(name)
    if (event.type === 'ENGINE_START') render({ kind: 'journal', event }) // says how commands are shown
    if (step !== undefined && !('iteration' in event && event.iteration === step)) continue
    if (step !== undefined && !flags.json) print(terminal, await contextOfStep(run.directory, event))
    hasStep = true
    for (const each of chosen(event)) {
      hasShown = true
      show(each)
    }
  }
  if (step !== undefined && !hasStep)
    throw new UsageError(`--step ${step}: run ${run.runId} has ${counted(run.lastIteration, 'iteration')}.`)
  if (flags.tool !== undefined && !called.has(flags.tool))
    throw new UsageError(
      `--tool ${flags.tool}: run ${run.runId} did not call this tool. It called: ${[...called].join(', ') || 'none'}.`,
    )
  if (flags.failed && !hasShown) say(terminal, `No call of run ${run.runId} has failed.`)
}

/** If there is none, stderr says how to continue the run. */
function showAnswer(run: RunSummary, terminal: Terminal): number {
  const { status, answer, runId, problem } = run
  if (status === 'COMPLETED' && answer !== undefined) {
    printAnswer(terminal, answer)
    return EXIT.completed
  }
  say(terminal, `Run ${runId} has no answer: it is ${problem === undefined ? status : 'damaged'}.`)
  for (const line of problem === undefined ? nextCommandOf(run) : [describeError(problem)])
    say(terminal, line)
  return EXIT.failed
}

/** What `delta continue` would say has changed in the agent. */
async function sayChanges(run: RunSummary, terminal: Terminal): Promise<void> {
  if (run.metadata.agent_home === null || run.problem !== undefined) return
  const own = ownRun(run, terminal.env)
  if (own === undefined) return // the agent that it names is not believed
  const flags = withAllowed({ importRoot: [] }, own.allowed)
  try {
    const { agent } = await openAgentOf(own, { flags, surroundings: terminal })
    const notice = changeNotice(changesSince(run, agent))
    if (notice !== undefined) say(terminal, notice)
  } catch (error) {
    if (error instanceof WorkspaceError) return // it is gone
    if (!isConfigError(error)) throw error
    say(terminal, `The agent of this run does not load any more: ${error.message.split('\n')[0]}`)
  }
}

/** A run that is followed may still begin. */
function refuseEmpty(run: RunSummary, { follow }: ShowFlags): void {
  if (run.status !== 'EMPTY' || run.problem !== undefined || run.owner?.alive) return
  if (!follow || !mayBegin(run)) throw emptyRunError(run.directory)
}

/** No process writes the run now, but one may take it up. */
function sayWatched(run: RunSummary, terminal: Terminal): void {
  say(terminal, 'Still watching; Ctrl+C ends that.')
  for (const line of run.status === 'EMPTY' ? ['It has not started yet.'] : advice(run, terminal))
    say(terminal, line)
}

/** Reads the run again: it may have gone on meanwhile, or its journal may have been deleted. */
async function sayHowToGoOn(directory: string, flags: ShowFlags, terminal: Terminal): Promise<void> {
  const run = await readRun(directory, { tolerant: true })
  if (flags.follow) refuseEmpty(run, flags)
  if (flags.json || (run.status === 'RUNNING' && flags.follow)) return // another owner has taken it up just now
  for (const line of advice(run, terminal)) say(terminal, line)
}

/** None advises to go on with a run that came with the workspace. */
function advice(run: RunSummary, { env }: Terminal): string[] {
  return isOwnRun(run.directory, env) ? nextCommandOf(run) : []
}

async function requestOf({ directory }: RunSummary, request: string): Promise<string> {
  try {
    return await readRequest(directory, wholeNumber('--request', request))
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_REQUEST_NOT_FOUND') throw error
    // a person typed the flag, not the path of the requests
    const said = error.message.replace(`${error.path}: `, '')
    throw new UsageError(`--request ${request}: ${said}`, { cause: error })
  }
}
