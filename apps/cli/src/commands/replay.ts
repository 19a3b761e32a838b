import { mkdtempSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Replayed, type RunResult, replayRun } from '@delta/engine'
import { shortName } from '@delta/engine/internal'
import { quoteForPerson } from '@delta/executor'
import type { RunSummary } from '@delta/journal/runs'
import { type Difference, diffRuns, openTrace, type RunDiff } from '@delta/trace'
import { forkedRun, type ListedRun, listingOwnRuns, placeToWork } from '@delta/workspace'
import { namedDirectory } from '@delta/workspace/internal'
import {
  type EngineFlags,
  engineOptions,
  exitCodeFor,
  maxIterationsIn,
  withStopSignal,
} from '../engine-options.js'
import { shownRun } from '../find-shown-run.js'
import { type Presenter, presenterFor } from '../presenter.js'
import { EXIT, type Terminal } from '../terminal.js'
import { counted, print, printableLine, say } from '../text.js'
import { UsageError } from '../usage.js'
import { masksIn } from './diff.js'
import { iterationIn, type OpenedAgent, openAgentOf, readable } from './fork.js'

interface ReplayFlags extends EngineFlags {
  at?: string
  workDir: string
  live?: 'model' | 'tools' | 'both'
  assert?: boolean
  mask: string[]
  into?: string
  agent?: string
  withoutFiles?: boolean
}

/** `delta replay`: the run again, with its model, its tools or both taken from its record. The run itself is only read. */
export async function execute(
  flags: ReplayFlags,
  terminal: Terminal,
  named: string | undefined,
): Promise<number> {
  const masks = masksIn(flags.mask)
  const at = flags.at === undefined ? undefined : iterationIn({ at: flags.at })
  maxIterationsIn(flags) // refuses a wrong value before anything is made
  const live = liveSides(flags)
  const run = readable(await shownRun({ workDir: flags.workDir }, terminal, named))
  const own = allowedRun(run, { live, flags, terminal })
  // what is only looked up need not be watched
  const presenter = presenterFor(
    { ...flags, quiet: flags.quiet || !(flags.verbose || asksModel(live)) },
    terminal,
  )
  const check = (opened: OpenedAgent['opened']) => refuseUnasked(flags, opened)
  const agent = await openAgentOf(own, { flags, terminal, presenter, check })

  const into =
    flags.into === undefined
      ? mkdtempSync(join(realpathSync(tmpdir()), 'delta-replay-'))
      : namedDirectory(flags.into, terminal, '--into')
  const isOurs = flags.into === undefined
  const starting = { run, at, live, into, masks, flags, terminal, presenter, ...agent }
  const replay = await start(starting).catch((error) => {
    if (isOurs && readdirSync(into).length === 0) rmdirSync(into) // one that has begun keeps its record
    throw error
  })
  const compared = await compare(run, replay, masks)
  const { same } = compared
  const kept = !isOurs || !same
  if (asksModel(live))
    presenter.finish(replay.result, { more: { same }, isForReading: live !== 'both' || !kept })
  report(compared, { run, replay, flags, live, kept }, terminal)
  if (!kept) rmSync(into, { recursive: true, force: true })
  if (asksModel(live) && !flags.assert) return exitCodeFor(replay.result)
  return same ? EXIT.completed : EXIT.different
}

type Live = ReplayFlags['live']

/** A model that is named is to be asked. */
function liveSides({ live, model }: ReplayFlags): Live {
  if (model === undefined) return live
  return live === 'tools' || live === 'both' ? 'both' : 'model'
}

function asksModel(live: Live): boolean {
  return live === 'model' || live === 'both'
}

/** A script would answer in the place of the model that was named. */
function refuseUnasked({ model }: ReplayFlags, { agent }: OpenedAgent['opened']): void {
  const { provider } = agent.llm
  if (model === undefined || (provider !== 'script' && provider !== 'replay')) return
  throw new UsageError(
    `--model ${model}: the agent's provider is ${provider}, which asks no model. Name one that does: --set llm.provider=openai`,
  )
}

/** What was set for a run of one's own applies. Of any other run nothing runs, so an agent is needed, and is only read. */
function allowedRun(
  run: RunSummary,
  { live, flags, terminal }: { live: Live; flags: ReplayFlags; terminal: Terminal },
): ListedRun | undefined {
  const command = quoteForPerson(['delta', ...terminal.argv])
  const agent = live === undefined ? flags.agent : '' // whose is asked below
  const own = forkedRun(run, { env: terminal.env, agent, command })
  if (own !== undefined || live === undefined) return own
  throw new UsageError(
    `${shortName(run.runId)} is not among your runs: nothing of it may run. Leave --live and --model out.`,
  )
}

interface Starting extends OpenedAgent {
  run: RunSummary
  at: number | undefined
  live: Live
  into: string
  masks: readonly RegExp[]
  flags: ReplayFlags
  terminal: Terminal
  presenter: Presenter
}

function start(starting: Starting): Promise<Replayed> {
  const { run, at, live, into, masks, opened, going, flags, terminal, presenter } = starting
  const list = listingOwnRuns(terminal.env)
  return withStopSignal(terminal, presenter, async (signal) => {
    const place = placeToWork(into, {}, terminal)
    const silent = {
      agent: going.agent,
      env: terminal.env,
      sync: flags.sync,
      signal,
      onEvent: presenter.show,
    }
    const options =
      live === undefined ? silent : await engineOptions(opened, { place, flags, terminal, presenter, signal })
    return replayRun({
      ...options,
      ...place,
      run: run.directory,
      at,
      live,
      into,
      masks,
      allowed: going.allowed,
      files: flags.withoutFiles ? 'without' : 'require',
      maxIterations: maxIterationsIn(flags),
      ...(live === 'both' && {
        onRun: (directory: string) => list(directory, { ...options, ...going }, { begins: true }),
      }),
    })
  })
}

/** What a replay and its run have in common. */
interface Comparison {
  same: boolean
  diff: RunDiff
  /** Null: none, or the replay's own reason says what it is. */
  first: Difference | null
  requests: number
  calls: number
  /** The original's call whose result differs. */
  command: string | undefined
}

async function compare(
  run: RunSummary,
  { directory, at, result }: Replayed,
  masks: readonly RegExp[],
): Promise<Comparison> {
  const [original, replay] = [await openTrace(run.directory), await openTrace(directory)]
  const diff = await diffRuns(original, replay, { masks })
  let [requests, calls] = [0, 0]
  for await (const step of replay.steps({ from: at + 1 })) {
    if (step.thought) requests += 1
    calls += step.calls.filter(({ status }) => status !== undefined).length
  }
  const isSoFar = diff.first?.at === 'end' && run.status === 'RUNNING' // it went on meanwhile
  const isLeft = result.reasonCode === 'replay_mismatch'
  const same = (diff.same || isSoFar) && !isLeft
  const first = isLeft && diff.first?.at === 'end' ? null : diff.first // it says no more than that the replay left its record
  return { same, diff, first, requests, calls, command: await commandIn(original, first) }
}

async function commandIn(
  original: Awaited<ReturnType<typeof openTrace>>,
  first: Difference | null,
): Promise<string | undefined> {
  if (first?.at !== 'result') return undefined
  const { step: n, call = 1 } = first
  for await (const { calls } of original.steps({ from: n, to: n }))
    return calls[call - 1]?.command ?? undefined
  return undefined
}

interface Reporting {
  run: RunSummary
  replay: Replayed
  flags: ReplayFlags
  live: Live
  /** False: its directory is removed. */
  kept: boolean
}

function report(compared: Comparison, reporting: Reporting, terminal: Terminal): void {
  const { replay, flags, live, kept } = reporting
  const { same, diff, first, requests, calls } = compared
  if (flags.format === 'json' && !asksModel(live)) {
    const about = {
      same,
      run_id: diff.b.run_id,
      directory: kept ? replay.directory : null,
      requests: { compared: requests },
      calls: { compared: calls, masked: diff.masked },
      divergence: same
        ? null
        : (first ?? { cause: 'unknown', where: 'replay', left: null, right: replay.result.reason }),
    }
    print(terminal, `${JSON.stringify(about)}\n`)
  } else if (same && (!asksModel(live) || flags.assert)) {
    const answer = replay.result.answer === undefined ? endInWords(replay.result) : 'the answer'
    const masked = diff.masked > 0 ? `; ${counted(diff.masked, 'text')} masked` : ''
    print(terminal, `same: ${counted(requests, 'request')}, ${counted(calls, 'call')}, ${answer}${masked}\n`)
  }
  const isWanted = !flags.quiet || flags.assert || !asksModel(live)
  if (!same && isWanted && flags.format !== 'json')
    for (const line of divergence(compared, reporting)) say(terminal, line)
}

function endInWords({ status, reasonCode }: RunResult): string {
  return `the end (${status}, ${reasonCode})`
}

function divergence({ first, command }: Comparison, { run, replay, live }: Reporting): string[] {
  const { result, workDirectory } = replay
  const left = run.lastIteration - result.iterations
  const more =
    !asksModel(live) && left > 0
      ? `${left} of ${counted(run.lastIteration, 'iteration')} ${left === 1 ? 'was' : 'were'} not reached. `
      : ''
  const show = `To look at the replay: ${quoteForPerson(['delta', 'show', workDirectory])}`
  if (first === null) {
    const why = result.reason ?? 'The replay ended otherwise.'
    return [...why.split('\n').map(printableLine), more.trim(), show].filter((line) => line !== '')
  }
  const place = first.byte === undefined ? '' : ` at byte ${first.byte}`
  const what = first.at === 'result' ? `${first.where} printed something else` : `${first.where}${place}`
  const isFailure =
    first.at === 'end' && result.status === 'FAILED' && !result.reasonCode.startsWith('limit_')
  const isUnsaid = first.at === 'call' && result.reasonCode === 'replay_mismatch'
  return [
    `diverged at iteration ${first.step}, ${first.cause}: ${what}`,
    ...(command === undefined ? [] : [`  $ ${printableLine(command)}`]),
    ...(isUnsaid
      ? [`  ${printableLine(result.reason ?? '')}`]
      : withoutLastNewLines([first.left, first.right]).map(
          (text, index) => `  ${'-+'[index]} ${shown(text)}`,
        )),
    ...(isFailure ? [`  ${printableLine(result.reason ?? '')}`] : []),
    `${more}${maskFor(first)}`.trim(),
    show,
  ].filter((line) => line !== '')
}

function withoutLastNewLines(texts: readonly (string | null)[]): readonly (string | null)[] {
  return texts.every((text) => text?.endsWith('\n')) ? texts.map((text) => text?.slice(0, -1) ?? null) : texts
}

function shown(text: string | null): string {
  return text === null ? 'none' : printableLine(text)
}

/** What would hide a difference of numbers alone. */
function maskFor({ at, left, right }: Difference): string {
  if (at !== 'result' || left === null || right === null) return ''
  const withoutNumbers = (text: string) => text.replace(/\d+/g, '0')
  if (withoutNumbers(left) !== withoutNumbers(right)) return ''
  const [words, others] = [left.split(/\s+/), right.split(/\s+/)]
  const index = words.findIndex((word, at) => word !== others[at])
  const around = words.slice(Math.max(0, index - 1), index + 1).join(' ')
  const pattern = around.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\d+/g, '\\d+')
  return `To ignore such text: ${quoteForPerson(['--mask', pattern])}`
}
