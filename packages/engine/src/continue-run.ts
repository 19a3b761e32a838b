import { isAbsolute, join } from 'node:path'
import { type Agent, loadAgent } from '@delta/config-loader'
import { realPath } from '@delta/durable/internal'
import { quoteForPerson } from '@delta/executor'
import { checkRunsDirectory } from '@delta/journal/internal'
import {
  type EngineStart,
  isKnownEvent,
  type NewEvent,
  openRun,
  type Run,
  type RunSummary,
  type RunsPlace,
  type StoredEvent,
} from '@delta/journal/runs'
import { type AgentRun, agentRun } from './agent-run.js'
import { isAnswerTo } from './answer.js'
import { questionOf } from './ask-human.js'
import { EngineError, type EngineWayOut } from './errors.js'
import { findAgentHome, findRun, shortName } from './find-run.js'
import { updateMetadata } from './finish.js'
import { hasUnread, unread } from './inbox.js'
import { readResponse } from './interaction.js'
import { changeNotice, changesSince } from './kept.js'
import { openPurse, type Purse } from './limits.js'
import { type ModelOfRun, modelFor } from './model.js'
import {
  type Allowed,
  type Callbacks,
  checkWorkDirectory,
  type EngineOptions,
  guardCallbacks,
  maxIterationsFor,
} from './options.js'
import { needsNewRun, type RunResult, retryOf } from './outcome.js'
import { type Pricing, pricing } from './paid.js'
import { releasing } from './releasing.js'
import type { Replay } from './replay-port.js'
import { driveRun, engineStart } from './run-agent.js'
import type { Reply } from './run-state.js'

/** The run to continue, and its input. */
export interface ContinueRunOptions extends EngineOptions, RunsPlace {
  /** Absolute path of the workspace. */
  workDirectory: string
  /**
   * States that you trust the run: its journal names the agent directory whose commands run. The engine cannot check this. A run
   * that came with a repository or an archive may be an attacker's.
   */
  trusted: true
  /** Default: the workspace's latest run. */
  runId?: string | undefined
  /** The result of `findRun`, instead of `runId`: saves a second reading of the journal. */
  run?: RunSummary | undefined
  /** The answer, if the run waits for one; otherwise, or together with a decision, a further instruction. */
  message?: string | undefined
  /**
   * Retries a failed run without a message: sends the same request again or, after a limit that is higher now, the next one.
   */
  retry?: boolean | undefined
  /** A person's decision on the command that waits for approval. */
  decision?: Extract<Reply, { requestId: string }> | undefined
  /** Ends a live owner on this machine and takes its run; takes the run of another machine at once. */
  force?: boolean | undefined
  /** Default: loaded from the directory that the journal names, with the overrides of the run's last start. */
  agent?: Agent | undefined
  /** Replaces `RunSummary.allowed` for this and later continuations. Default: unchanged. */
  allowed?: Allowed | undefined
}

/**
 * Continues a run that was interrupted, waits for a person, or has ended.
 *
 * The result is like that of `runAgent`; its `runId` is undefined if the options do not say which run it is.
 *
 * Settles first what the last engine left open, so that no command runs twice unnoticed. A completed run needs a `message` or one in
 * its inbox that came too late, a failed one also takes `retry`. An interrupted run takes the message as a further instruction, a waiting one as the answer.
 *
 * @example
 * const result = await continueRun({ workDirectory: '/work/site', trusted: true, message: 'Now in French.' })
 * if (result.status === 'COMPLETED') console.log(result.answer)
 *
 * @throws {EngineError} `ERR_ENGINE_RUN_NOT_FOUND`, `ERR_ENGINE_NO_AGENT`, `ERR_ENGINE_NO_CREDENTIALS`, `ERR_ENGINE_NO_PRICE`,
 *   `ERR_ENGINE_MESSAGE_REQUIRED`, `ERR_ENGINE_NO_RETRY`, `ERR_ENGINE_OTHER_WORKSPACE`, `ERR_ENGINE_NOT_WAITING` (a decision on a command that does not wait),
 *   `ERR_ENGINE_IMPORTED`, `ERR_ENGINE_REPLAY`, `ERR_ENGINE_NO_ANSWER` (a confirmation was answered with neither yes nor no), `ERR_ENGINE_USAGE`.
 *   {JournalError} `ERR_RUN_BUSY`: another process is writing the run. {ConfigError} The agent does not load.
 */
export function continueRun(options: ContinueRunOptions): AgentRun<string | undefined> {
  return agentRun(options.run?.runId ?? options.runId, options, goOn)
}

async function goOn(given: ContinueRunOptions): Promise<RunResult> {
  if (given.trusted !== true) throw new EngineError('ERR_ENGINE_USAGE', UNTRUSTED)
  const options = { ...given, ...guardCallbacks(given) }
  const { workDirectory } = options
  checkWorkDirectory(workDirectory)
  const runsDirectory = options.runsDirectory && checkRunsDirectory(workDirectory, options)
  const summary = options.run ?? (await findRun(workDirectory, options.runId, { runsDirectory }))
  checkContinuable(summary, options)

  const agent = options.agent ?? (await loadAgentOf(summary, options.env ?? process.env))
  if (options.retry) requireIterations(summary, maxIterationsFor(agent, options))
  const modelOf = await modelFor(agent, options)
  const purse = await openPurse(agent, options.env ?? process.env)
  const priced = await pricing(agent, options, purse)
  const run = await openRun(summary.directory, {
    workDirectory,
    force: options.force,
    sync: options.sync,
  })
  return releasing(run, async () => {
    checkContinuable(run.summary(), options) // another engine may have ended it meanwhile
    return resume(run, { ...options, agent, modelOf, purse, priced })
  })
}

const UNTRUSTED =
  'Pass trusted: true if you started the run or have read its journal: it names the agent directory whose commands run.'

/** The live files of a run's agent, with what was set for it. */
export async function loadAgentOf(
  summary: RunSummary,
  env: NodeJS.ProcessEnv,
  more: readonly string[] = [],
): Promise<Agent> {
  const overrides = [...summary.overrides, ...more]
  return (await loadAgent(await findAgentHome(summary), { env, overrides })).agent
}

/** Begins this engine's part of a run that it owns, and drives it. */
export async function resume(
  run: Run,
  options: ContinueRunOptions &
    Callbacks & {
      agent: Agent
      modelOf: ModelOfRun
      purse: Purse
      priced: Pricing
      replay?: Replay | undefined
    },
): Promise<RunResult> {
  const { metadata, status, humanRequest: waiting } = run.summary()
  const { agent, message, decision } = options
  const maxIterations = maxIterationsFor(agent, options)
  const isAnswer = waiting !== undefined && waiting.argv === undefined && message !== undefined
  const reply = decision ?? (isAnswer ? ({ kind: 'answer', text: message } as const) : undefined)
  const changes = changesSince(run, agent)
  const changedFiles = changes.map(({ file }) => file)
  const { workDirectory } = run
  const movedFrom = oldWorkspace(await run.events(), workDirectory)
  const task = metadata.initial_message ?? ''
  const events: NewEvent[] = [
    engineStart(run, {
      ...options,
      workDirectory,
      task,
      maxIterations,
      changedFiles,
      resumed: true,
      ...(movedFrom !== undefined && { lineage: { paths: [[movedFrom, workDirectory]] } }),
    }),
  ]
  // a message may come with a decision
  if (message !== undefined && reply?.kind !== 'answer')
    events.push({ type: 'USER_MESSAGE', content: message })
  const isEnded = status === 'COMPLETED' || status === 'FAILED'
  const late = isEnded && message === undefined && !options.retry ? await unread(run) : undefined
  if (late) events.push(...late.messages)
  options.onRun?.(run.directory)
  run.journal.append(...events)
  run.journal.sync()
  late?.remove()
  await updateMetadata(run, () => undefined) // a failure is reported at the end
  const approvesNothing = waiting?.argv !== undefined && message !== undefined && decision === undefined
  if (approvesNothing) options.onEvent({ kind: 'notice', message: NO_APPROVAL })
  const isMoved = movedFrom === undefined ? [] : [movedNotice(movedFrom, workDirectory)]
  const notices = [...isMoved, changeNotice(changes) ?? []].flat()
  return driveRun(run, { ...options, maxIterations, reply, notices, resumed: true, changedFiles })
}

/** The workspace that the run knew before, if it was moved since. A link that leads to this one still does. */
function oldWorkspace(events: readonly StoredEvent[], workDirectory: string): string | undefined {
  const start = events.filter(isKnownEvent).findLast(({ type }) => type === 'ENGINE_START')
  const { work_dir } = Object(start) as Partial<EngineStart>
  if (work_dir === undefined || !isAbsolute(work_dir)) return undefined
  return realPath(work_dir) === realPath(workDirectory) ? undefined : work_dir
}

function movedNotice(from: string, to: string): string {
  return `The workspace was ${from}, and is now ${to}: the model reads the new path in what came before.`
}

const NO_APPROVAL =
  'A command waits for approval, and a message does not approve it: that takes a decision with its request id.\nThe message is kept as a further instruction, which the agent reads after the decision.'

type Given = Pick<ContinueRunOptions, 'message' | 'retry' | 'decision'>

/**
 * Refuses input that cannot continue the run, before anything is written.
 *
 * @throws {EngineError} `ERR_ENGINE_IMPORTED`, `ERR_ENGINE_REPLAY`, `ERR_ENGINE_NOT_WAITING`, `ERR_ENGINE_MESSAGE_REQUIRED`, `ERR_ENGINE_NO_RETRY`,
 *   `ERR_ENGINE_NO_ANSWER`, `ERR_ENGINE_USAGE`.
 */
function checkContinuable(summary: RunSummary, given: Given): void {
  refuseReadOnly(summary)
  requireWaiting(summary, given)
  if (given.retry) requireRetry(summary, given)
  else requireMessage(summary, given)
  requireAnswer(summary, given)
}

/**
 * Refuses a run that can only be read.
 *
 * @throws {EngineError} `ERR_ENGINE_IMPORTED`: it was made from a file of another program and has no agent. `ERR_ENGINE_REPLAY`.
 */
export function refuseReadOnly(summary: RunSummary): void {
  refuseReplay(summary)
  refuseImported(summary)
}

function refuseImported({ imported, directory: path }: RunSummary): void {
  if (imported === undefined) return
  const message = 'This run was imported and cannot be continued. Start a new one with -m.'
  throw new EngineError('ERR_ENGINE_IMPORTED', message, { path })
}

/** What the record of a replay does not hold cannot go on. */
function refuseReplay({ replay, parent, runId, directory: path, lastIteration }: RunSummary): void {
  if (replay === undefined || parent === undefined) return
  const [name, original] = [shortName(runId), shortName(parent.run_id)]
  const at = replay.model === 'recorded' ? lastIteration : parent.iteration
  const fork = `delta fork ${quoteForPerson([parent.directory])} --at ${at}`
  const message = `${name} is a replay of ${original} and cannot be continued. To go on for real: ${fork}`
  throw new EngineError('ERR_ENGINE_REPLAY', message, { path })
}

function requireMessage({ status, directory: path }: RunSummary, { message }: Given): void {
  if ((status !== 'COMPLETED' && status !== 'FAILED') || message !== undefined || hasUnread(path)) return
  throw new EngineError('ERR_ENGINE_MESSAGE_REQUIRED', `Run is ${status}. To continue, provide a message`, {
    path,
    wayOut: 'message',
  })
}

/** Lets a running run pass: `openRun` refuses it. */
function requireRetry(summary: RunSummary, { message, decision }: Given): void {
  if (message !== undefined || decision !== undefined)
    throw new EngineError('ERR_ENGINE_USAGE', 'A retry takes no message and no decision.')
  const { status, metadata } = summary
  if (status === 'RUNNING') return
  if (status !== 'FAILED') {
    const wayOut = status === 'COMPLETED' ? 'message' : 'continue'
    throw noRetry(summary, `it is ${status}, not FAILED. Continue it without a retry.`, wayOut)
  }
  const code = metadata.reason_code ?? undefined
  if (retryOf(code) !== undefined) return
  const why = `it ended with ${code ?? 'no reason_code'} (${metadata.error}).`
  if (needsNewRun(code)) throw noRetry(summary, `${why} Start a new run.`, 'start')
  throw noRetry(summary, `${why} Continue it with a message.`, 'message')
}

/** A retry may use the iterations that the last message has left. */
function requireIterations(summary: RunSummary, maxIterations: number): void {
  const used = summary.iterationsSinceMessage
  if (used < maxIterations) return
  const raise = `Raise max_iterations, for example to ${2 * maxIterations}, or continue with a message.`
  throw noRetry(summary, `it has used ${used} of ${maxIterations} iterations. ${raise}`, 'message')
}

function noRetry({ runId, directory: path }: RunSummary, why: string, wayOut: EngineWayOut): EngineError {
  return new EngineError('ERR_ENGINE_NO_RETRY', `Run ${runId} cannot be retried: ${why}`, { path, wayOut })
}

function requireWaiting({ runId, humanRequest }: RunSummary, { decision }: Given): void {
  const waiting = humanRequest?.argv === undefined ? undefined : humanRequest.request_id
  if (decision === undefined || decision.requestId === waiting) return
  const known = waiting === undefined ? 'No command waits for approval.' : `Waiting: ${waiting}.`
  throw new EngineError(
    'ERR_ENGINE_NOT_WAITING',
    `Run ${runId} has no waiting command with the request id ${decision.requestId}. ${known}`,
  )
}

/**
 * Requires a readable answer, and yes or no for a confirmation: the model may take any other answer for a yes.
 */
function requireAnswer(summary: RunSummary, { message }: Given): void {
  const { humanRequest: request, directory } = summary
  if (request === undefined || request.argv !== undefined) return
  const interaction = join(directory, 'interaction')
  const question = questionOf(request)
  const answer = message ?? readResponse(interaction, question)
  if (answer === undefined || isAnswerTo(question, answer)) return
  const said = request.sensitive ? 'the answer' : JSON.stringify(answer)
  const what =
    message === undefined ? `${join(interaction, 'response.txt')}: ${said}` : `The message: ${said}`
  throw new EngineError(
    'ERR_ENGINE_NO_ANSWER',
    `${what} is neither yes nor no, and the agent asks for one of them: ${request.prompt}\nAnswer with yes or no (or y, n); more may follow: "yes, but …".`,
  )
}
