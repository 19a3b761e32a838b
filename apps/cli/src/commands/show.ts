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
import { childFinder, followRun, mayBegin, readRecord } from '@delta/trace/internal'
import { isOwnRun } from '@delta/workspace'
import { placeOfRun } from '@delta/workspace/internal'
import { type CallFilter, callFilter } from '../call-filter.js'
import { describeError } from '../errors.js'
import { type ShownRunFlags, shownRun } from '../find-shown-run.js'
import { nextCommandOf } from '../next-command.js'
import { renderer, styleFor } from '../render.js'
import { EXIT, type Terminal } from '../terminal.js'
import { counted, print, printAnswer, printable, say } from '../text.js'
import { UsageError, wholeNumber } from '../usage.js'

interface ShowFlags extends CallFilter, ShownRunFlags {
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
  const run = await shownRun(flags, terminal, runId)
  refuseEmpty(run, flags)
  if (flags.request !== undefined) {
    print(terminal, await requestOf(run, flags.request))
    return EXIT.completed
  }
  if (flags.answer) return showAnswer(run, terminal)
  await showEvents(run, flags, terminal)
  if (flags.step !== undefined) return EXIT.completed
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
  const show = printerOf(flags, terminal)
  const chosen = callFilter(flags)
  const called = new Set<string>()
  let hasStep = false
  let hasShown = false
  for await (const event of eventsOf(run, flags, terminal)) {
    if (isKnownEvent(event) && event.type === 'THOUGHT')
      for (const { name } of event.tool_calls) called.add(name)
    const iteration = 'iteration' in event ? event.iteration : undefined
    if (event.type === 'ENGINE_START') show.begin(event)
    if (step !== undefined && iteration !== step) {
      if (iteration === undefined || iteration === step - 1) show.begin(event)
      continue
    }
    if (step !== undefined && !flags.json) print(terminal, await contextOfStep(run.directory, event))
    hasStep = true
    for (const each of chosen(event)) {
      hasShown = true
      show.print(each)
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

/** One line for each part of what the model saw before a thought, from the record of its request; '' without one. */
async function contextOfStep(runDirectory: string, event: StoredEvent): Promise<string> {
  const iteration = 'iteration' in event ? event.iteration : ''
  const ref = 'llm_invocation_ref' in event ? event.llm_invocation_ref : undefined
  if (typeof ref !== 'string') return ''
  const { blocks = [], left_out: leftOut = [] } = (await readRecord(runDirectory, ref)) ?? {}
  if (blocks.length === 0) return ''
  const lines = blocks.map(
    ({ source_id: id, type, messages, bytes, tokens, note }) =>
      `   ${printable(String(id))}: ${type === 'tools' ? '' : `${counted(messages, 'message')}, `}${bytes} bytes, about ${tokens} tokens${note === undefined ? '' : ` (${printable(note)})`}`,
  )
  const apis = [...new Set(leftOut.map(({ api }) => printable(String(api))))].join(', ')
  const without =
    apis &&
    `   left out: reasoning of ${counted(leftOut.length, 'answer')} that only its own API can read (${apis})\n`
  return `The model saw (--request ${iteration} prints all of it):\n${lines.join('\n')}\n${without}`
}

/** The events of a run; for people, the result of a call names the runs that the call started. */
async function* eventsOf(
  run: RunSummary,
  { follow, json }: ShowFlags,
  terminal: Terminal,
): AsyncGenerator<StoredEvent> {
  const events = follow
    ? eachOf(followRun(run.directory, { onLeft: (left) => sayWatched(left, terminal) }))
    : streamJournal(journalPath(run.directory), { schema: runEventSchema })
  if (json) return yield* events
  const withChildren = childFinder(run, placeOfRun(run.directory))
  for await (const event of events) yield await withChildren(event)
}

async function* eachOf(pieces: AsyncIterable<StoredEvent[]>): AsyncGenerator<StoredEvent> {
  for await (const events of pieces) yield* events
}

/** Prints events as JSON, or as lines for people; `begin` takes one that is not printed, and says how, and since when, the next are shown. */
function printerOf({ json, verbose = false, step }: ShowFlags, terminal: Terminal) {
  const { stdout, env } = terminal
  const render = renderer({
    style: styleFor(stdout, env),
    verbose: verbose || step !== undefined,
    transcript: true,
    columns: stdout.columns,
  })
  return {
    begin: (event: StoredEvent): void => void render({ kind: 'journal', event }),
    print(event: StoredEvent): void {
      if (json) print(terminal, `${JSON.stringify(event)}\n`)
      else for (const line of render({ kind: 'journal', event })) stdout.write(`${line}\n`) // already safe, and coloured
    },
  }
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
    throw new UsageError(`--request ${request}: ${error.reason}`, { cause: error })
  }
}
