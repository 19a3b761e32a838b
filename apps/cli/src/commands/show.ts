import { isConfigError } from '@delta/config-loader'
import { agentChanges } from '@delta/engine'
import { nearestNames } from '@delta/executor'
import {
  isJournalError,
  isKnownEvent,
  neverBegan,
  type RunSummary,
  readRequest,
  readRun,
  type StoredEvent,
  streamJournal,
} from '@delta/journal'
import { withAllowed } from '../agent/load-agent.js'
import { describeError } from '../errors.js'
import { adviceOnRun } from '../present/advice-on-run.js'
import { type EventPrinter, eventPrinter } from '../present/event-printer.js'
import { print, printAnswer, say } from '../present/print.js'
import { agentOfRun } from '../runs/agent-of-run.js'
import { type CallFilter, callFilter } from '../runs/call-filter.js'
import { contextOfStep } from '../runs/context-of-step.js'
import { followJournal, mayBegin } from '../runs/follow.js'
import { isOwnRun } from '../runs/own-runs.js'
import { findShownRun, type ShownRun } from '../runs/shown-run.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { UsageError, wholeNumber } from '../usage.js'
import { placeToLook, type RunsFlags } from '../workspace/find-place.js'

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
  refuseTogether(flags)
  const run = await findShownRun(placeToLook(flags, terminal), runId)
  refuseEmpty(run, flags)
  if (flags.request !== undefined) {
    print(terminal, await requestOf(run, flags.request))
    return EXIT.completed
  }
  if (flags.answer) return showAnswer(run, terminal)
  if (flags.tool !== undefined && !flags.follow) await refuseUncalled(run, flags.tool)
  if (flags.step !== undefined) {
    const show = asTyped(flags, runId)
    return showStep(run, wholeNumber('--step', flags.step), { flags, terminal, show })
  }
  const showEvent = filteredPrinter(flags, terminal)
  const events = flags.follow
    ? followJournal(run, { onLeft: (left) => sayWatched(left, terminal) })
    : streamJournal(run.journalPath)
  for await (const event of events) showEvent(event)
  if (flags.failed && !showEvent.hasShown()) say(terminal, `No call of run ${run.runId} has failed.`)
  if (!flags.json) await sayChanges(run, terminal)
  if (flags.follow || !flags.json) await sayHowToGoOn(run.directory, flags, terminal)
  return EXIT.completed
}

/** If there is none, stderr says how to continue the run. */
function showAnswer(run: ShownRun, terminal: Terminal): number {
  const { status, answer, runId } = run
  if (status === 'COMPLETED' && answer !== undefined) {
    printAnswer(terminal, answer)
    return EXIT.completed
  }
  say(terminal, `Run ${runId} has no answer: it is ${run.problem === undefined ? status : 'damaged'}.`)
  for (const line of run.problem === undefined ? adviceOnRun(run) : [describeError(run.problem)])
    say(terminal, line)
  return EXIT.failed
}

/** The events of one iteration, after what the model saw before it. */
async function showStep(
  run: ShownRun,
  step: number,
  { flags, terminal, show }: { flags: ShowFlags; terminal: Terminal; show: readonly string[] },
): Promise<number> {
  const showEvent = filteredPrinter(flags, terminal)
  let found = false
  for await (const event of streamJournal(run.journalPath)) {
    if (!('iteration' in event) || event.iteration !== step) {
      showEvent.pass(event)
      continue
    }
    if (!found && !flags.json) print(terminal, await contextOfStep(run.directory, event, show))
    found = true
    showEvent(event)
  }
  if (found) return EXIT.completed
  throw new UsageError(`--step ${step}: ${extent(run)}`)
}

/** Prints the calls that `--tool` and `--failed` mean; without them, everything. */
function filteredPrinter(flags: ShowFlags, terminal: Terminal): EventPrinter & { hasShown(): boolean } {
  const printer = eventPrinter(flags, terminal)
  const meant = callFilter(flags)
  const isFiltered = flags.tool !== undefined || flags.failed === true
  let shown = false
  const show = (event: StoredEvent): void => {
    if (isFiltered) printer.pass(event)
    for (const each of meant(event)) {
      shown = true
      printer(each)
    }
  }
  return Object.assign(show, { pass: printer.pass, hasShown: () => shown })
}

/** @throws {UsageError} The run has not called this tool. */
async function refuseUncalled(run: ShownRun, tool: string): Promise<void> {
  const called = new Set<string>()
  for await (const event of streamJournal(run.journalPath))
    if (isKnownEvent(event) && event.type === 'THOUGHT')
      for (const { name } of event.tool_calls) called.add(name)
  if (called.has(tool)) return
  const [nearest] = nearestNames(tool, called)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  const which = called.size === 0 ? 'It called no tool.' : `It called: ${[...called].join(', ')}.`
  throw new UsageError(`--tool ${tool}: run ${run.runId} did not call this tool.${meant} ${which}`)
}

/** What `delta continue` would say has changed in the agent. */
async function sayChanges(run: ShownRun, terminal: Terminal): Promise<void> {
  const changes = await changesIn(run, terminal)
  if (changes !== undefined) say(terminal, changes)
}

async function changesIn(run: ShownRun, terminal: Terminal): Promise<string | undefined> {
  if (run.metadata.agent_home === null || run.problem !== undefined) return undefined
  if (!isOwnRun(run.directory, terminal.env)) return undefined // the agent that it names is not believed
  try {
    const agent = await agentOfRun(run, {
      flags: withAllowed({ importRoot: [] }, run.allowed),
      terminal,
      warn: () => undefined,
    })
    return agentChanges(run, agent)
  } catch (error) {
    if (error instanceof UsageError) return undefined // it is gone
    if (!isConfigError(error)) throw error
    return `The agent of this run does not load any more: ${error.message.split('\n')[0]}`
  }
}

/** A run that is followed may still begin. */
function refuseEmpty(run: RunSummary, { follow }: ShowFlags): void {
  if (run.status !== 'EMPTY' || run.problem !== undefined || run.owner?.alive) return
  if (!follow || !mayBegin(run)) throw neverBegan(run.directory)
}

/** No process writes the run now, but one may take it up. */
function sayWatched(run: RunSummary, terminal: Terminal): void {
  const [why = ''] = run.status === 'EMPTY' ? ['It has not begun yet.'] : advice(run, terminal)
  say(terminal, `Still watching; Ctrl+C ends that. ${why}`)
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
  return isOwnRun(run.directory, env) ? adviceOnRun(run) : []
}

async function requestOf({ directory }: ShownRun, request: string): Promise<string> {
  try {
    return await readRequest(directory, wholeNumber('--request', request))
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_REQUEST_NOT_FOUND') throw error
    // a person typed the flag, not the path of the requests
    const said = error.message.replace(`${error.path}: `, '')
    throw new UsageError(`--request ${request}: ${said}`, { cause: error })
  }
}

/** The command as briefly as it was typed; it works in the same directory. */
function asTyped({ workDir, runsDir }: ShowFlags, runId: string | undefined): string[] {
  return [
    'delta',
    'show',
    ...(runId === undefined ? [] : [runId]),
    ...(workDir === '.' ? [] : ['-w', workDir]),
    ...(runsDir === undefined ? [] : ['--runs-dir', runsDir]),
  ]
}

function extent({ runId, lastIteration }: { runId: string; lastIteration: number }): string {
  if (lastIteration === 0) return `run ${runId} has no iteration yet.`
  return lastIteration === 1
    ? `run ${runId} has one iteration: 1.`
    : `run ${runId} has the iterations 1 to ${lastIteration}.`
}

/** Each of these selects what is printed, so one of two would be ignored. */
function refuseTogether({ step, request, answer, follow, json, tool, failed }: ShowFlags): void {
  const given = Object.entries({
    '--step': step,
    '--request': request,
    '--answer': answer,
    '--follow': follow,
  })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => flag)
  if (given.length > 1)
    throw new UsageError(
      `${given.join(' and ')} cannot be combined: each says what is to be shown. Leave one out.`,
    )
  const filter = Object.entries({ '--tool': tool, '--failed': failed }).find(
    ([, value]) => value !== undefined,
  )
  if (filter && (answer || request !== undefined))
    throw new UsageError(
      `${filter[0]} and ${answer ? '--answer' : '--request'} cannot be combined: it chooses calls of the transcript. Leave one out.`,
    )
  if (answer && json)
    throw new UsageError(
      '--answer and --json cannot be combined: the answer is text, and --json prints journal lines. Leave one out.',
    )
}
