import { hostname } from 'node:os'
import { basename, dirname, isAbsolute } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { followEvents, keepJson } from '@delta/context/internal'
import { patternBudget } from '@delta/executor/internal'
import type { NewEventOf } from '@delta/journal'
import { newRunId } from '@delta/journal/internal'
import {
  createRun,
  type EngineStart,
  isKnownEvent,
  type Run,
  type RunsPlace,
  type StoredEvent,
} from '@delta/journal/runs'
import { type AgentRun, agentRun } from './agent-run.js'
import { finish } from './finish.js'
import { keepConfiguration } from './kept.js'
import { openPurse, type Purse } from './limits.js'
import { runLoop } from './loop.js'
import { type ModelOfRun, modelFor } from './model.js'
import {
  type Allowed,
  baseEnvironment,
  type Callbacks,
  checkDepth,
  checkWorkDirectory,
  credentialsFor,
  type EngineOptions,
  guardCallbacks,
  maxIterationsFor,
  parentRun,
} from './options.js'
import type { RunResult } from './outcome.js'
import { type Pricing, pricing } from './paid.js'
import { releasing } from './releasing.js'
import { replayLoop } from './replay-loop.js'
import type { Replay } from './replay-port.js'
import { toolsOf } from './request.js'
import type { Reply, RunState } from './run-state.js'
import { secretToken } from './secrets.js'
import { takeSnapshots } from './snapshots.js'
import { joinTree, leaveTree, rootRunOf, type Unlisted } from './tree.js'
import { ENGINE_VERSION } from './version.js'
import { type WallClock, wallClock } from './wall-time.js'

/** The agent, its workspace and its task. */
export interface RunAgentOptions extends EngineOptions, RunsPlace {
  /** The result of `defineAgent`, or of `loadAgent` of `@delta/config-loader`. */
  agent: Agent
  /** Absolute path of the workspace; it must exist. Commands run here, and the run is recorded in `.delta/` here. */
  workDirectory: string
  /** The task: the first user message. */
  message: string
  /** Default: the time and a random suffix. */
  runId?: string | undefined
  /** What the person who starts the run allows; recorded as `RunSummary.allowed` for later continuations. */
  allowed?: Allowed | undefined
}

/**
 * Starts a new run of an agent; the promise resolves when it ends or waits for a person. `for await` listens to its events.
 *
 * All state is in `.delta/<run_id>/` (or `<runsDirectory>/<run_id>/`): if this process is killed at any moment, `continueRun`
 * continues the run. If the agent's model cannot be made, nothing is written.
 *
 * @example
 * const { agent } = await loadAgent('/agents/writer', { env: process.env })
 * const result = await runAgent({ agent, workDirectory: '/work/site', message: 'Write a page.' })
 * if (result.status === 'COMPLETED') console.log(result.answer)
 *
 * @throws {EngineError} `ERR_ENGINE_NO_CREDENTIALS`, `ERR_ENGINE_NO_PRICE` (of `limits.cost`), `ERR_ENGINE_TOO_DEEP` (too many
 *   agents have called one another), `ERR_ENGINE_USAGE`. {JournalError} `ERR_RUN_EXISTS`, `ERR_RUNS_DIRECTORY`, or when the workspace cannot be written.
 */
export function runAgent(options: RunAgentOptions): AgentRun {
  const { runId = newRunId() } = options
  return agentRun(runId, { ...options, runId }, start)
}

async function start(options: RunAgentOptions): Promise<RunResult> {
  const { agent, workDirectory, message } = options
  checkWorkDirectory(workDirectory)
  const maxIterations = maxIterationsFor(agent, options)
  const host = options.env ?? process.env
  checkDepth(host)
  const modelOf = await modelFor(agent, options)
  const purse = await openPurse(agent, host)
  const priced = await pricing(agent, options, purse)

  const run = await createRun(workDirectory, {
    runsDirectory: options.runsDirectory,
    runId: options.runId,
    sync: options.sync,
    latest: !parentRun(host, workDirectory)?.isHere, // `delta continue` must find the run that called this one
    events: (created) => {
      options.onRun?.(created.directory)
      return [
        engineStart(created, { ...options, priced, task: message, maxIterations, resumed: false }),
        { type: 'USER_MESSAGE', content: message },
      ]
    },
  })
  const drive = {
    ...options,
    ...guardCallbacks(options),
    modelOf,
    purse,
    priced,
    maxIterations,
    reply: undefined,
    resumed: false,
  }
  return releasing(run, () => driveRun(run, drive))
}

interface DriveOptions extends Omit<EngineOptions, keyof Callbacks>, Callbacks {
  agent: Agent
  modelOf: ModelOfRun
  purse: Purse
  priced: Pricing
  maxIterations: number
  reply: Reply | undefined
  /** Notices to emit first. */
  notices?: readonly string[]
  resumed: boolean
  changedFiles?: string[]
  replay?: Replay | undefined
}

/** Time between TERM and KILL of a stopped command. A child engine must end before its parent kills it. */
const GRACE_MS = { own: 2000, child: 1000 }

/** Drives a run to its outcome. This process owns the run and has written its `ENGINE_START`. */
export async function driveRun(run: Run, options: DriveOptions): Promise<RunResult> {
  const { agent, onEvent: emit, notices = [], resumed, changedFiles = [], sync } = options
  const host = options.env ?? process.env
  const unlisted = joinTree(run, host)
  const events = await run.events()
  const begun = events.slice(events.findLastIndex(({ type }) => type === 'ENGINE_START')).filter(isKnownEvent)
  for (const event of begun) emit({ kind: 'journal', event })
  for (const message of [...run.notices.splice(0), ...notices, ...(unlisted ? [notCounted(unlisted)] : [])])
    emit({ kind: 'notice', message })
  keepConfiguration(run, agent, { seq: begun[0]?.seq ?? 1, isChanged: changedFiles.length > 0, sync })

  const { signal = new AbortController().signal } = options
  const clock = wallClock(run, { agent, host, signal })
  try {
    const state = stateOf(run, { ...options, clock, unlisted }, events)
    clock.resume()
    const finished = await finish(state, () =>
      state.replay ? replayLoop(state, state.replay) : runLoop(state),
    )
    leaveTree(run, host, finished)
    return { ...finished, resumed, changedFiles }
  } finally {
    clock.close()
  }
}

function notCounted({ path, why }: Unlisted): string {
  return `The run that started this one does not count what it costs: ${path} cannot be written (${why}).`
}

function stateOf(
  run: Run,
  options: DriveOptions & { clock: WallClock; unlisted: Unlisted | undefined },
  events: readonly StoredEvent[],
): RunState {
  const { agent, env: host = process.env, maxIterations, purse, clock, replay } = options
  const environment = baseEnvironment(run, agent, options)
  const tools = toolsOf(agent)
  keepJson(tools)
  const { sensitiveCalls } = run.history
  const { lastIteration, iterationsSinceMessage } = run.summary()
  return {
    run,
    agent,
    model: options.modelOf(environment),
    replay,
    priceAnswer: options.priced.priceAnswer,
    overspent: () => purse.check(run, options.unlisted),
    clock,
    resumed: options.resumed && replay === undefined, // the iteration that a replay inherits is complete
    tools,
    firstIteration: lastIteration + 1,
    lastAllowedIteration: lastIteration + maxIterations - iterationsSinceMessage,
    maxIterations,
    rootRun: rootRunOf(run, host),
    identity: identityOf(run, events),
    credentials: credentialsFor(agent.llm, options),
    environment,
    graceMs: host.DELTA_PARENT_RUN === undefined ? GRACE_MS.own : GRACE_MS.child,
    earlierSecretTokens: new Set([...sensitiveCalls].map(secretToken)),
    warnings: new Set(),
    matcher: patternBudget(),
    conversation: followEvents(run.events),
    signal: clock.signal,
    snapshots: takeSnapshots(run, {
      agent,
      clock,
      sync: options.sync,
      onEvent: (event) => options.onEvent({ kind: 'journal', event }),
      onNotice: (message) => options.onEvent({ kind: 'notice', message }),
    }),
    reply: options.reply,
    alwaysAllowed: new Set(),
    ask: options.ask,
    stream: options.stream ?? false,
    emit: options.onEvent,
  }
}

/** A person may choose the id of a run, so it is not enough. A fork begins with its own `ENGINE_START`. */
function identityOf({ runId }: Run, events: readonly StoredEvent[]): string {
  const start = events.find(({ type, inherited }) => type === 'ENGINE_START' && !inherited)
  const { timestamp, work_dir, engine = {} } = Object(start) as Partial<EngineStart & StoredEvent>
  return JSON.stringify([runId, timestamp, work_dir, engine.hostname, engine.pid])
}

/** The first event of each engine process in a run. It contains no secret. */
export function engineStart(
  run: { runId: string; directory: string; epoch: number },
  about: Pick<EngineOptions, 'sources' | 'env'> & {
    agent: Agent
    /** Undefined: nothing is paid for before the next start. */
    priced?: Pricing | undefined
    workDirectory: string
    task: string
    maxIterations: number
    resumed: boolean
    retry?: boolean | undefined
    /** Recorded at the first start and, if given, at a later one. */
    allowed?: Allowed | undefined
    /** Names of the agent's files that have changed since the last start. */
    changedFiles?: string[]
    /** Where the run comes from: another run, or another directory. */
    lineage?: Pick<EngineStart, 'parent' | 'paths' | 'replay'>
  },
): NewEventOf<EngineStart> {
  const { agent, workDirectory, sources, env = process.env, changedFiles = [] } = about
  const parent = parentRun(env, workDirectory)
  const { overrides, config } = agent.snapshot
  const allowed = allowedIn(run, about)
  const isSaid = about.resumed ? about.allowed !== undefined : Object.keys(allowed).length > 0
  return {
    type: 'ENGINE_START',
    run_id: run.runId,
    agent_name: agent.name,
    agent_home: agent.snapshot.isDefined ? null : (agent.home ?? null),
    ...toolHomesOf(agent),
    work_dir: workDirectory,
    workspace_id: basename(workDirectory),
    task: about.task,
    max_iterations: about.maxIterations,
    config: { ...config, ...pricesIn(about), environment: { origins: sources?.origins ?? [] } },
    engine: {
      version: ENGINE_VERSION,
      node: process.version,
      pid: process.pid,
      hostname: hostname(),
      epoch: run.epoch,
    },
    resumed: about.resumed,
    ...(overrides.length > 0 && { overrides }),
    ...(about.retry && { retry: true }),
    ...(parent && { parent_run: parent.runId }),
    ...(isSaid && { allowed }),
    ...(changedFiles.length > 0 && { changed_files: changedFiles }),
    ...about.lineage,
  }
}

/** The directories of tools outside of the agent's. */
function toolHomesOf({ tools }: Agent): Pick<EngineStart, 'tool_homes'> {
  const homes = [...tools].flatMap(([name, { home = '' }]) => (isAbsolute(home) ? [[name, home]] : []))
  return homes.length > 0 ? { tool_homes: Object.fromEntries(homes) } : {}
}

/** All prices that count but the shipped ones, for the sub-agents that spend from a limit of this run. */
function pricesIn({ agent, priced }: { agent: Agent; priced?: Pricing | undefined }): { prices?: unknown } {
  const { rows = [] } = priced ?? {}
  return rows.length > 0 || agent.prices ? { prices: rows } : {}
}

/** What the person allows, with what is trusted in the workspace, and the runs directory if it is outside. */
function allowedIn(
  { directory }: { directory: string },
  { allowed, sources }: Pick<RunAgentOptions, 'allowed' | 'sources'>,
): EngineStart['allowed'] & object {
  const { importRoots = [] } = allowed ?? {}
  const digest = sources?.workspaceEnvDigest
  const above = dirname(directory)
  return {
    ...(importRoots.length > 0 && { import_roots: [...importRoots] }),
    ...(digest !== undefined && { workspace_env_digest: digest }),
    ...(basename(above) !== '.delta' && { runs_dir: above }),
  }
}
