import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { replacing } from '@delta/context/internal'
import { isInside } from '@delta/durable/internal'
import { readJournal } from '@delta/journal'
import { type Inherited, journalPath, workDirectoryOf } from '@delta/journal/internal'
import {
  type EngineStart,
  isKnownEvent,
  type JournalEvent,
  openRun,
  type RunSummary,
  readRun,
  runEventSchema,
  type StoredEvent,
} from '@delta/journal/runs'
import { type Api, normaliseUsage } from '@delta/model'
import { continueRun, loadAgentOf, resume } from './continue-run.js'
import { EngineError } from './errors.js'
import { shortName } from './find-run.js'
import { type Fork, type ForkRunOptions, forkRun, makeFork, movedPaths } from './fork-run.js'
import { openPurse, type Purse } from './limits.js'
import { modelFor } from './model.js'
import { type EngineOptions, guardCallbacks } from './options.js'
import type { RunResult } from './outcome.js'
import { type Pricing, pricing } from './paid.js'
import { type RecordedRun, recordedRun } from './recorded-run.js'
import { releasing } from './releasing.js'
import { openReplay } from './replay.js'
import type { Sides, Variables } from './replay-port.js'
import { apiOf } from './request.js'
import type { PriceAnswer } from './run-state.js'

/** The run to replay, what of it is live, and where the replay lies. */
export interface ReplayRunOptions
  extends EngineOptions,
    Omit<ForkRunOptions, 'at' | 'files' | 'message' | 'maxIterations'> {
  /** The last iteration that the replay inherits. Default: 0, or where a fork begins. */
  at?: number | undefined
  /** What is asked and started. Default: nothing. */
  live?: 'model' | 'tools' | 'both' | undefined
  /** Text that does not count when a request is looked up, each with the flag `g`. */
  masks?: readonly RegExp[] | undefined
  /** For live tools. Default: `require`. */
  files?: ForkRunOptions['files'] | undefined
}

/** A replay that has ended. */
export interface Replayed {
  directory: string
  workDirectory: string
  /** The last iteration that it inherited. */
  at: number
  /** A replay that left its record has failed with `replay_mismatch`. */
  result: RunResult
}

/**
 * Runs an agent again with its model, its tools, or both taken from the record of a run, in another directory. With both, no command is
 * started and nothing is sent; with `live: 'both'` it is a fork that goes on. The run itself is only read.
 *
 * What the record does not hold ends the replay as `FAILED` (`replay_mismatch`): nothing is guessed. Where the record ends without an
 * answer, the replay ends likewise. Unless both are live, questions, approvals and messages of the user
 * are answered from the record.
 *
 * @example
 * const { result } = await replayRun({ run: '/work/site/.delta/r1', into: '/tmp/replay' })
 * console.log(result.reasonCode) // 'answered', or 'replay_mismatch'
 *
 * @throws What `forkRun` and `continueRun` throw. {EngineError} `ERR_ENGINE_FORK_AT`: a part of the run that the replay would need
 *   was inherited by it, or belongs to another workspace, or the iteration is the answer. `ERR_ENGINE_FORK_INTO`: the directory is
 *   not empty.
 */
export async function replayRun(options: ReplayRunOptions): Promise<Replayed> {
  const { env = process.env, live } = options
  const sides: Sides = {
    model: live === 'model' || live === 'both' ? 'live' : 'recorded',
    tools: live === 'tools' || live === 'both' ? 'live' : 'recorded',
  }
  const summary = await readRun(options.run)
  const at = options.at ?? summary.parent?.iteration ?? 0
  const agent = options.agent ?? (await loadAgentOf(summary, env, options.overrides))
  const forking = {
    ...options,
    agent,
    at,
    files: sides.tools === 'live' ? (options.files ?? 'require') : 'without',
  } as const
  const { events } = await readJournal(journalPath(summary.directory), { schema: runEventSchema })
  checkIsNoAnswer(summary, events, at)
  if (live === 'both') return goOn(await forkRun(forking), at, options)

  if (sides.tools === 'recorded') checkIsNew(options.into)
  const record = recordedRun(summary.directory, events, at)
  checkPlace(summary, record, at)
  const places = placesOf(summary, record, agent)
  const fork = await makeFork(forking, (_run, inherited, to) => ({
    paths: pathsFor(sides, { summary, record, inherited, to }),
    replay: sides,
  }))
  const moved = sides.tools === 'live' ? movedTo(places, fork) : []
  const replay = openReplay(record, {
    name: shortName(summary.runId),
    sides,
    variables: places,
    agentHome: agent.home,
    paths: moved,
    masks: options.masks ?? [],
    api: serverApiOf(agent),
    maxIterations: options.maxIterations,
  })
  const seen = asSeenBy(sides, agent)
  const chatModel = replay.chatModel
  const modelOf = chatModel ? () => chatModel : await modelFor(seen, options)
  const purse = chatModel ? NOTHING_SPENT : await openPurse(seen, env)
  const priced = chatModel ? PAID_BEFORE : await pricing(seen, options, purse)
  const run = await openRun(fork.directory, { workDirectory: fork.workDirectory, sync: options.sync })
  const { directory, workDirectory } = fork
  const { run: _, ...rest } = options
  const given = { ...rest, ...guardCallbacks({ ...rest, ask: undefined }) }
  const result = await releasing(run, () =>
    resume(run, { ...given, agent: seen, workDirectory, trusted: true, modelOf, purse, priced, replay }),
  )
  return { directory, workDirectory, at, result }
}

/** A script, a command and a model of a program's own speak no API that the record could name. */
function serverApiOf({ llm, model }: Agent): Api | undefined {
  return model !== undefined || WITHOUT_API.has(llm.provider) ? undefined : apiOf(llm)
}

const WITHOUT_API: ReadonlySet<string> = new Set(['script', 'command', 'replay'])

/** With both sides live. */
async function goOn(
  { runId, directory, workDirectory }: Fork,
  at: number,
  options: ReplayRunOptions,
): Promise<Replayed> {
  const { run: _run, ...rest } = options
  const result = await continueRun({ ...rest, runId, workDirectory, trusted: true })
  return { directory, workDirectory, at, result }
}

/** What a replay with recorded sides does without: what it would start, and limits of what it does not spend. */
function asSeenBy(sides: Sides, agent: Agent): Agent {
  const { snapshots, limits, ...rest } = agent
  const { tokenCounter: _, ...manifest } = agent.manifest
  return {
    ...rest,
    ...(sides.tools === 'recorded' ? { manifest } : snapshots && { snapshots }),
    ...(sides.model === 'live' && limits && { limits }),
  }
}

/** The recorded run has paid for its answers. */
const priceAnswer: PriceAnswer = async ({ usage, model }) => {
  const tokens = normaliseUsage(usage)
  return {
    replayed: true,
    ...(usage === Object(usage) ? { usage: usage as Record<string, unknown> } : {}),
    ...(tokens ? { tokens } : {}),
    ...(model === undefined ? {} : { model }),
    provider: null,
    price: null,
  }
}

const PAID_BEFORE: Pricing = { rows: [], priceAnswer }
const NOTHING_SPENT: Purse = { prices: undefined, costLimit: undefined, check: async () => undefined }

/** @throws {EngineError} `ERR_ENGINE_FORK_AT`. */
function checkPlace(
  { runId, directory: path, parent }: RunSummary,
  { movedAt }: RecordedRun,
  at: number,
): void {
  const name = shortName(runId)
  if (parent && at < parent.iteration) {
    const inherited = parent.iteration === 1 ? 'iteration 1' : `iterations 1 to ${parent.iteration}`
    const message = `--at ${at}: ${name} is a fork and has inherited ${inherited}. Replay ${shortName(parent.run_id)}, or leave --at out.`
    throw new EngineError('ERR_ENGINE_FORK_AT', message, { path })
  }
  if (movedAt === undefined) return
  const message = `${name} was moved to another directory after iteration ${movedAt}. To replay what came then: --at ${movedAt}`
  throw new EngineError('ERR_ENGINE_FORK_AT', message, { path })
}

/** @throws {EngineError} `ERR_ENGINE_FORK_AT`. */
function checkIsNoAnswer(
  { runId, directory: path }: RunSummary,
  events: readonly StoredEvent[],
  at: number,
): void {
  const calls = events
    .filter(isKnownEvent)
    .findLast(
      (event): event is Extract<JournalEvent, { type: 'THOUGHT' }> =>
        event.type === 'THOUGHT' && event.iteration === at,
    )?.tool_calls
  if (calls?.length !== 0) return
  const message = `--at ${at} is the answer of ${shortName(runId)}: a replay begins before it.`
  throw new EngineError('ERR_ENGINE_FORK_AT', message, { path })
}

/**
 * Nobody's workspace gets a run that cannot go on.
 *
 * @throws {EngineError} `ERR_ENGINE_FORK_INTO`.
 */
function checkIsNew(into: string): void {
  const what = statSync(into, { throwIfNoEntry: false })
  if (!what?.isDirectory() || readdirSync(into).length === 0) return
  const message = `--into ${into}: the directory is not empty. A replay lies in a new one.`
  throw new EngineError('ERR_ENGINE_FORK_INTO', message, { path: into })
}

/** What the recorded commands were told. A copy of a run still names the directories in which it ran. */
function placesOf({ directory }: RunSummary, { start }: RecordedRun, agent: Agent): Variables {
  const current = workDirectoryOf(directory)
  const CWD = start?.work_dir ?? current ?? directory
  const isWithin = current !== undefined && isInside(directory, current)
  const RUN_DIR = isWithin ? join(CWD, relative(current, directory)) : (runDirectoryIn(start) ?? directory)
  return { AGENT_HOME: start?.agent_home ?? agent.home ?? CWD, CWD, RUN_DIR }
}

/** Where a run lay that was copied without its workspace. */
function runDirectoryIn(start: EngineStart | undefined): string | undefined {
  const { work_dir, run_id, allowed } = start ?? {}
  const runs = allowed?.runs_dir ?? (work_dir === undefined ? undefined : join(work_dir, '.delta'))
  return runs === undefined || run_id === undefined ? undefined : join(runs, run_id)
}

function movedTo({ CWD, RUN_DIR }: Variables, { workDirectory, directory }: Fork): [string, string][] {
  return [
    [CWD, workDirectory],
    [RUN_DIR, directory],
  ]
}

/**
 * With recorded tools the model reads the paths that it read then: those of the run, which may be a fork with paths of its own.
 * With live ones, it reads those of the replay.
 */
function pathsFor(
  sides: Sides,
  about: {
    summary: RunSummary
    record: RecordedRun
    inherited: Inherited
    to: { into: string; directory: string }
  },
): [string, string][] {
  const { summary, record, inherited, to } = about
  const ofRun = record.paths.map(([from, there]): [string, string] => [from, there])
  if (sides.tools === 'recorded') return ofRun
  const places = record.start?.work_dir
  const { paths } = movedPaths(summary, inherited, to)
  const moved = places === undefined ? paths : [...paths, [places, to.into] as [string, string]]
  const inReplay = replacing(moved)
  return [...ofRun.map(([from, there]): [string, string] => [from, inReplay(there)]), ...moved]
}
