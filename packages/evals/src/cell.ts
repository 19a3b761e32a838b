import { existsSync, lstatSync, mkdirSync, renameSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { LoadedAgent } from '@delta/config-loader'
import { createFile, readIfThere, replaceFile, syncName } from '@delta/durable'
import {
  type Credentials,
  continueRun,
  type EngineEvent,
  type EngineOptions,
  forkRun,
  runAgent,
  type SettingSources,
} from '@delta/engine'
import { retryOf } from '@delta/engine/internal'
import { commandEnvironment, runCommand } from '@delta/executor'
import { readJournal } from '@delta/journal'
import { verifyRun } from '@delta/journal/internal'
import { isKnownEvent, type RunSummary, readRun, runEventSchema } from '@delta/journal/runs'
import {
  classify,
  type Ended,
  MOST_DEAD_WORKERS,
  type Scored,
  type Tampering,
  verdictWithoutScores,
} from './classify.js'
import { CopyTooLarge } from './copy-for-scorers.js'
import { areScorerFilesIntact, copyTree, isAgentIntact, isTaskIntact, partsOfInput } from './inputs.js'
import type { AttemptPaths, CellPaths } from './layout.js'
import { isRaised } from './limits.js'
import { namesOfFiles } from './plan.js'
import { DETACHED_UNSEEN, endProcessesOf, seesEnvironments } from './processes.js'
import { scoreCell } from './score.js'
import { linkResult, numbersIn, readEarlierResults, readResult } from './stored.js'
import type { Cell, CellLimits, CellResult, Plan, PlannedTask } from './types.js'

/** A cell that this worker owns, with all it needs. */
export interface Job {
  cell: Cell
  paths: CellPaths
  plan: Plan
  task: PlannedTask
  /** The task's directory in `inputs/`. */
  input: string
  /** The directory of the scorers' files in `inputs/`. */
  scorerFiles: string | undefined
  agent: LoadedAgent
  /** The hash of the agent's directory in `inputs/`, and its path. */
  agentInput: { hash: string; path: string }
  credentials: Credentials & SettingSources
  prices: EngineOptions['prices']
  limits: CellLimits
  /** The environment of the agent's commands. */
  env: NodeJS.ProcessEnv
  /** The worker's own environment. */
  workerEnv: NodeJS.ProcessEnv
  /** Aborted when the worker stops or has lost the cell. */
  signal: AbortSignal
  /** Number of the lease. */
  epoch: number
  /** Workers that died in the cell since its last result. */
  deadWorkers: number
  sync: boolean
  onEvent: (event: EngineEvent) => void
  /** Throws if another worker owns the cell now. */
  checkOwner: () => void
}

/**
 * Brings a cell to its result: sets up and runs what has not run, scores what was not scored, and links `result.json`.
 *
 * A kill at any instant leaves the cell without a result, and whoever claims it next goes on.
 *
 * @returns Undefined if the signal was aborted.
 */
export async function workOnCell(job: Job): Promise<CellResult | undefined> {
  const { paths } = job
  if (job.epoch > 1) await endProcessesOf(paths.directory) // a setup, a scorer or what left its group goes on when its worker dies
  const wasForged = existsSync(paths.result) && readResult(paths) === undefined // by an agent that then ended its worker
  const before = retireResult(job)
  const number = numbersIn(paths.directory).at(-1) ?? 1
  const attempt = paths.attempt(number)
  await removeLeftovers(paths)
  writeAbout(job)

  const worked =
    wasForged || job.deadWorkers >= MOST_DEAD_WORKERS
      ? { setupMs: 0 }
      : await runRecorded(job, attempt, before)
  if (job.signal.aborted) return undefined
  const run = await summaryOf(attempt)
  refuseFullDisk(run)
  const isGone = await endProcessesOf(paths.directory)
  const ended: Ended = {
    deadWorkers: job.deadWorkers,
    setup: worked.failure,
    run: run && { status: run.status, reasonCode: run.metadata.reason_code, reason: run.metadata.error },
    tampered: wasForged
      ? 'result'
      : await tamperedIn(job, { attempt, isGone, worked, run, isForged: existsSync(paths.result) }),
  }
  const began = performance.now()
  const { scores, tooLarge } = verdictWithoutScores(ended)
    ? { scores: [], tooLarge: false }
    : await score(job, attempt, run)
  if (job.signal.aborted) return undefined
  const verdict = classify(tooLarge ? { ...ended, tampered: 'copy' } : ended, scores)
  const result = resultOf(job, {
    number,
    run,
    verdict,
    scores,
    warnings: verdict.state === 'invalid' ? [] : await warningsOf(attempt), // its record may be what is damaged
    setupMs: worked.setupMs,
    scoreMs: Math.round(performance.now() - began),
  })
  job.checkOwner()
  return keepResult(job, result)
}

interface Worked {
  setupMs: number
  /** Why the setup failed. */
  failure?: string
  /** Identity of the workspace's root when the agent began. */
  root?: string
  /** The journal, or what lies beside it, was cut, replaced or deleted during the run. */
  isRecordLost?: boolean
}

/** Moves a result away that does not count any longer, as after another scorer or a raised limit. */
function retireResult({ paths }: Job): CellResult | undefined {
  const result = readResult(paths)
  if (result !== undefined || existsSync(paths.result)) moveToResults(paths)
  return result ?? readEarlierResults(paths).at(-1)
}

/** Gives `result.json` the next number in `results/`: the cell is pending again. */
export function moveToResults(paths: CellPaths): void {
  mkdirSync(paths.results, { recursive: true, mode: 0o700 })
  const next = (numbersIn(paths.results, { after: '.json' }).at(-1) ?? 0) + 1
  renameSync(paths.result, join(paths.results, `${next}.json`))
  syncName(paths.result)
}

/** What a kill left: copies of scorers, and a result that did not get its name. */
async function removeLeftovers({ directory, scores }: CellPaths): Promise<void> {
  await mkdir(scores, { recursive: true, mode: 0o700 })
  for (const above of [directory, scores])
    for (const name of await readdir(above))
      if (name.startsWith('.')) await rm(join(above, name), { recursive: true, force: true })
}

/** `cell.json` names the cell as the plan does now. */
function writeAbout({ cell, paths }: Pick<Job, 'cell' | 'paths'>): void {
  const text = `${JSON.stringify(cell)}\n`
  if (readIfThere(paths.about)?.toString() !== text) replaceFile(paths.about, text, { sync: false })
}

/** A run whose record its agent destroys ends, and says so; the other cells go on. */
async function runRecorded(job: Job, attempt: AttemptPaths, before: CellResult | undefined): Promise<Worked> {
  try {
    return await runAttempt(job, attempt, before)
  } catch (error) {
    const isOurs = existsSync(job.paths.lease) // without it the cell is as if it were new, and would be run for ever
    if (!isOurs || !isRecordLost(error)) throw error
    return { setupMs: 0, isRecordLost: true }
  }
}

const OF_RECORD = new Set([
  'ERR_JOURNAL_CORRUPT',
  'ERR_JOURNAL_READ',
  'ERR_JOURNAL_WRITE',
  'ERR_RUN_NOT_FOUND',
])
/** What the system says of a file that is gone or replaced; a full disk is not the agent's doing. */
const GONE = new Set([undefined, 'ENOENT', 'ENOTDIR', 'EISDIR'])

function isRecordLost(error: unknown): boolean {
  const { code = '', cause } = Object(error) as { code?: string; cause?: unknown }
  return OF_RECORD.has(code) && GONE.has(Object(cause).code)
}

/** Does what is left of setup and run. */
async function runAttempt(job: Job, attempt: AttemptPaths, before: CellResult | undefined): Promise<Worked> {
  const known = await summaryOf(attempt)
  const isForkWithoutSetup = job.task.fork !== undefined && !existsSync(attempt.isSetUp)
  if (known === undefined || isForkWithoutSetup) return beginRun(job, attempt)
  const root = identityOf(attempt.workspace)
  const { status, metadata } = known
  const isOpen = status === 'INTERRUPTED' || status === 'RUNNING'
  const fails = verdictWithoutScores({ run: { status, reasonCode: metadata.reason_code } }) !== undefined
  const mayMore = before !== undefined && isRaised(metadata.reason_code, before.limits, job.limits)
  const canGoOn =
    status === 'FAILED' && (fails || mayMore) && retryOf(metadata.reason_code ?? undefined) !== undefined
  if ((isOpen || canGoOn) && isOracle(job)) return beginRun(job, attempt)
  if (isOpen || canGoOn)
    await continueRun({
      ...engineOptions(job, attempt),
      run: known,
      trusted: true,
      ...(!isOpen && { retry: true }),
    })
  return { setupMs: before?.ms.setup ?? 0, ...(root !== undefined && { root }) }
}

/** Half of a solution is none, and to begin anew costs nothing. */
function isOracle({ plan, cell }: Job): boolean {
  return plan.variants.find(({ name }) => name === cell.variant)?.kind === 'oracle'
}

/** A full or read-only disk ends the worker, never a cell. */
function refuseFullDisk(run: RunSummary | undefined): void {
  const { reason_code: code, error } = Object(run?.metadata) as Partial<RunSummary['metadata']>
  const [, found] = /\b(ENOSPC|EROFS|EDQUOT)\b/.exec(error ?? '') ?? []
  if (code === 'internal' && found !== undefined)
    throw Object.assign(new Error(`${found}: ${error}`), {
      code: found,
      syscall: 'write',
      path: run?.directory,
    })
}

/** A run that has no first event is none. */
async function summaryOf({ run }: AttemptPaths): Promise<RunSummary | undefined> {
  if (!existsSync(run)) return undefined
  const summary = await readRun(run, { tolerant: true }).catch(nothingIfMissing)
  return summary?.status === 'EMPTY' ? undefined : summary
}

function nothingIfMissing(error: unknown): undefined {
  if ((error as { code?: unknown }).code === 'ERR_RUN_NOT_FOUND') return undefined
  throw error
}

function engineOptions(job: Job, attempt: AttemptPaths) {
  const { agent, credentials, prices, env, signal, sync, onEvent } = job
  return {
    agent,
    workDirectory: attempt.workspace,
    runsDirectory: attempt.runs,
    credentials,
    sources: credentials,
    prices,
    env,
    signal,
    sync,
    onEvent,
  }
}

async function beginRun(job: Job, attempt: AttemptPaths): Promise<Worked> {
  const { input, task, plan, signal } = job
  await rm(attempt.directory, { recursive: true, force: true })
  await mkdir(attempt.runs, { recursive: true, mode: 0o700 })
  const { workspace = '', instruction = '', run = '' } = partsOfInput(input)
  if (task.fork === undefined) await copyTree(workspace, attempt.workspace)
  else await forkInto(job, attempt, { ...task.fork, run })
  const began = performance.now()
  const failure = plan.setup === undefined ? undefined : await setUp(plan.setup, job, attempt)
  const setupMs = Math.round(performance.now() - began)
  const root = identityOf(attempt.workspace)
  if (signal.aborted || failure !== undefined) return { setupMs, ...(failure !== undefined && { failure }) }
  createFile(attempt.isSetUp, '', { sync: false })
  const options = engineOptions(job, attempt)
  if (task.fork === undefined) await runAgent({ ...options, runId: attempt.runId, message: instruction })
  else await continueRun({ ...options, runId: attempt.runId, trusted: true })
  return { setupMs, ...(root !== undefined && { root }) }
}

async function forkInto(
  job: Job,
  attempt: AttemptPaths,
  { at, message, run }: NonNullable<PlannedTask['fork']> & { run: string },
): Promise<void> {
  await forkRun({
    run,
    runId: attempt.runId,
    runsDirectory: attempt.runs,
    at,
    message,
    into: attempt.workspace,
    agent: job.agent,
    files: 'require',
    env: job.env,
    sync: job.sync,
  })
}

/** @returns Why it failed. */
async function setUp(
  command: string,
  { env, signal }: Job,
  attempt: AttemptPaths,
): Promise<string | undefined> {
  const outcome = await runCommand(['sh', '-c', command], {
    cwd: attempt.workspace,
    env: commandEnvironment(env),
    stdoutPath: attempt.setup,
    signal,
  })
  if (outcome.status === 'EXITED' && outcome.exitCode === 0) return undefined
  const last = outcome.stderr.text.trimEnd().split('\n').at(-1) ?? ''
  return `setup ${outcome.signal ?? `exit ${outcome.exitCode}`}${last === '' ? '' : `: ${last}`}`
}

/** Undefined unless it is a real directory. */
function identityOf(path: string): string | undefined {
  const what = lstatSync(path, { throwIfNoEntry: false, bigint: true })
  return what?.isDirectory() ? `${what.dev}:${what.ino}` : undefined
}

async function tamperedIn(
  job: Job,
  found: {
    attempt: AttemptPaths
    isGone: boolean
    worked: Worked
    run: RunSummary | undefined
    /** A result that somebody else wrote while the cell was ours. */
    isForged: boolean
  },
): Promise<Tampering | undefined> {
  const { attempt, isGone, worked, run, isForged } = found
  const hasRun = worked.root !== undefined
  if (worked.isRecordLost || (hasRun && run === undefined)) return 'journal'
  if (run === undefined) return isForged ? 'result' : undefined
  if (!hasRun || identityOf(attempt.workspace) !== worked.root) return 'workspace'
  if (!isGone) return 'process'
  if (isForged) return 'result'
  if (!(await areInputsIntact(job))) return 'inputs'
  return isJournalIntact(attempt) ? undefined : 'journal'
}

async function areInputsIntact({ input, task, scorerFiles, plan, agentInput }: Job): Promise<boolean> {
  if (!(await isTaskIntact(input, task))) return false
  if (!(await isAgentIntact(agentInput.path, agentInput.hash))) return false
  const planned = { names: namesOfFiles(plan), hash: plan.scorer_files }
  return scorerFiles === undefined || areScorerFilesIntact(scorerFiles, planned)
}

function isJournalIntact({ run }: AttemptPaths): boolean {
  return verifyRun(run).findings.every(({ kind }) => kind === 'note')
}

async function score(
  job: Job,
  attempt: AttemptPaths,
  run: RunSummary | undefined,
): Promise<{ scores: Scored[]; tooLarge: boolean }> {
  const { paths, input, scorerFiles, cell, workerEnv, signal, plan } = job
  const subject = {
    cell: paths,
    workspace: attempt.workspace,
    input,
    files: scorerFiles,
    answer: run?.answer ?? '',
    journal: join(attempt.run, 'journal.jsonl'),
    seed: cell.seed,
    env: workerEnv,
    signal,
  }
  const scores: Scored[] = []
  try {
    for (const scorer of plan.scorers) scores.push(await scoreCell(scorer, subject))
    return { scores, tooLarge: false }
  } catch (error) {
    if (signal.aborted) return { scores, tooLarge: false }
    if (error instanceof CopyTooLarge) return { scores: [], tooLarge: true }
    throw error
  }
}

interface About {
  number: number
  run: RunSummary | undefined
  verdict: ReturnType<typeof classify>
  scores: readonly Scored[]
  warnings: readonly string[]
  setupMs: number
  scoreMs: number
}

/** What the engines of the run warned of, and what could not be looked at. */
async function warningsOf({ run }: AttemptPaths): Promise<string[]> {
  const { events } = await readJournal(join(run, 'journal.jsonl'), { schema: runEventSchema })
  const warned = events.flatMap((event) =>
    isKnownEvent(event) && event.type === 'ENGINE_END' ? (event.warnings ?? []) : [],
  )
  return [...new Set([...warned, ...(seesEnvironments ? [] : [DETACHED_UNSEEN])])]
}

function resultOf(job: Job, { number, run, verdict, scores, warnings, setupMs, scoreMs }: About): CellResult {
  const { cell, plan, limits, epoch } = job
  const { task_hash: _, variant_hash: __, ...names } = cell
  const totals = run?.totals ?? null
  const waited = totals?.waited_ms ?? 0
  return {
    version: 1,
    ...names,
    attempt: number,
    epoch,
    ...verdict,
    scores: Object.fromEntries(plan.scorers.flatMap(({ name }, index) => entryOf(name, scores[index]))),
    run: run
      ? {
          id: run.runId,
          status: run.status,
          reason_code: run.metadata.reason_code,
          iterations: run.lastIteration,
        }
      : null,
    totals,
    models: Object.keys(totals?.by_model ?? {}),
    warnings,
    limits,
    sandbox: 'none',
    engine: plan.engine,
    ms: { setup: setupMs, agent: (totals?.duration_ms ?? 0) - waited, waited, score: scoreMs },
    at: new Date().toISOString(),
    by: { host: hostname(), pid: process.pid },
  }
}

function entryOf(name: string, scored: Scored | undefined): [string, CellResult['scores'][string]][] {
  if (scored === undefined || scored.kind === 'broken') return []
  return [[name, { score: scored.kind === 'score' ? scored.score : null, metrics: scored.metrics }]]
}

/** Nothing replaces a result. One that was there was forged: the cell was ours. */
async function keepResult({ paths, plan }: Job, result: CellResult): Promise<CellResult> {
  const isForged = existsSync(paths.result) || !linkResult(paths, result)
  const kept = isForged ? { ...result, ...classify({ tampered: 'result' }, []) } : result
  if (isForged) {
    moveToResults(paths)
    if (!linkResult(paths, kept))
      throw new Error(`${paths.result}: a result was written twice while the cell was ours`)
  }
  const isRemoved =
    plan.keep === 'never' || (plan.keep === 'failed' && kept.state === 'scored' && (kept.score ?? 0) >= 1)
  if (isRemoved) await rm(paths.attempt(kept.attempt).workspace, { recursive: true, force: true })
  return kept
}
