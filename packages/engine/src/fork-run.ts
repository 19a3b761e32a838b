import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { isInside, realPath } from '@delta/durable/internal'
import { type Inherited, readBeginning, workDirectoryOf } from '@delta/journal/internal'
import {
  createRun,
  type EngineStart,
  isKnownEvent,
  type JournalEvent,
  type RunSummary,
  type RunsPlace,
  readRun,
  type StoredEvent,
} from '@delta/journal/runs'
import { loadAgentOf } from './continue-run.js'
import { EngineError } from './errors.js'
import { shortName } from './find-run.js'
import {
  copySnapshots,
  type FilesOfIteration,
  filesOf,
  type RestoredFiles,
  restoreFiles,
} from './fork-files.js'
import {
  type Allowed,
  checkWorkDirectory,
  type EngineOptions,
  maxIterationsFor,
  parentRun,
} from './options.js'
import { engineStart } from './run-agent.js'

/** The run to fork, and where and how its fork begins. */
export interface ForkRunOptions
  extends RunsPlace,
    Pick<EngineOptions, 'env' | 'maxIterations' | 'onRun' | 'sources' | 'sync'> {
  /** Absolute path of the run's directory. It is only read: the run may be going on. */
  run: string
  /** The last iteration that the fork inherits. 0: only the task. */
  at: number
  /** Absolute path of the fork's workspace, outside the run's own. Created if it is missing. */
  into: string
  /** The id of the fork. Default: the time and a random suffix. */
  runId?: string | undefined
  /** A further instruction. The fork of a run's answer needs one. */
  message?: string | undefined
  /** Default: loaded from the directory that the journal names, with the overrides of the run's last start and `overrides`. */
  agent?: Agent | undefined
  /** For the default of `agent`: values to set, as `path=value`. */
  overrides?: readonly string[] | undefined
  /** `without`: only the conversation is forked, and `into` may hold files. */
  files: 'require' | 'allow_missing' | 'without'
  /** As for `runAgent`. Nothing is inherited from the run. */
  allowed?: Allowed | undefined
}

/** A run that was forked from another one and has not gone on. */
export interface Fork {
  runId: string
  /** Its directory. */
  directory: string
  workDirectory: string
  /** The run that it was made of, as its `ENGINE_START` names it. */
  parent: NonNullable<EngineStart['parent']>
  /** What was restored; absent without files. */
  files?: RestoredFiles
}

/**
 * Makes another run that has the iterations of a run up to one of them, and goes on from there: `continueRun` continues it. The run
 * itself and its workspace are only read.
 *
 * Everything of the fork is in its own directories. A kill leaves no fork, or a whole one that is `INTERRUPTED`.
 *
 * @example
 * const { workDirectory, runId } = await forkRun({ run: '/work/site/.delta/r1', at: 7, into: '/work/other', files: 'without' })
 * const result = await continueRun({ workDirectory, runId, trusted: true })
 *
 * @throws {EngineError} `ERR_ENGINE_FORK_AT`: the run has no such iteration, or it is not complete. `ERR_ENGINE_FORK_INTO`: the
 *   workspace is not empty, or not outside the run's own. `ERR_ENGINE_FORK_FILES`: the files of the iteration were not kept.
 *   `ERR_ENGINE_NO_AGENT`, `ERR_ENGINE_USAGE`. {JournalError} `ERR_RUN_NOT_FOUND`; its journal is damaged, or the fork's directory
 *   cannot be written. {ConfigError} The agent does not load.
 */
export function forkRun(options: ForkRunOptions): Promise<Fork> {
  return makeFork(options, movedPaths)
}

/** Which paths the model reads of in place of those that it has read of, and what else the fork's start says. */
export type LineageOf = (
  run: RunSummary,
  inherited: Inherited,
  fork: { into: string; directory: string },
) => Pick<EngineStart, 'paths' | 'replay'>

export async function makeFork(options: ForkRunOptions, lineageOf: LineageOf): Promise<Fork> {
  const { at, into, message, env = process.env } = options
  checkWorkDirectory(into)
  const summary = await readRun(options.run)
  const { inherited, found } = beginningOf(summary, { ...options, onCut: () => checkInto(summary, options) })
  const agent = options.agent ?? (await loadAgentOf(trustedPartOf(summary), env, options.overrides))

  const files = found && (await restoreFiles(summary.directory, found, into)) // a kill leaves files, and no run
  mkdirSync(into, { recursive: true })
  const parent = {
    run_id: summary.runId,
    directory: summary.directory,
    iteration: at,
    seq: inherited.seq,
    sha256: inherited.sha256,
    snapshot_id: found?.snapshotId ?? null,
    ...(found && found.leftOut.length > 0 && { left_out: found.leftOut }),
  }
  const run = await createRun(into, {
    runsDirectory: options.runsDirectory,
    runId: options.runId,
    sync: options.sync,
    latest: !parentRun(env, into)?.isHere,
    inherited,
    events: async (created) => {
      options.onRun?.(created.directory)
      await copySnapshots(summary.directory, created.directory, options)
      const start = engineStart(created, {
        ...options,
        agent,
        workDirectory: into,
        task: summary.metadata.initial_message ?? '',
        maxIterations: maxIterationsFor(agent, options),
        resumed: true,
        lineage: { parent, ...lineageOf(summary, inherited, { into, directory: created.directory }) },
      })
      return [start, ...(message === undefined ? [] : [{ type: 'USER_MESSAGE' as const, content: message }])]
    },
  })
  run.close()
  const { runId, directory, workDirectory } = run
  return { runId, directory, workDirectory, parent, ...(files && { files }) }
}

/** What makes two forks begin alike: the SHA-256 of the run's journal up to there, and the id of the files. */
export interface ForkPoint {
  sha256: string
  filesId: string | null
}

/**
 * Reads where a fork of a run would begin, and makes none.
 *
 * @throws {EngineError} `ERR_ENGINE_FORK_AT`, `ERR_ENGINE_FORK_FILES`. {JournalError} `ERR_RUN_NOT_FOUND`; its journal is damaged.
 */
export async function readForkPoint(
  run: string,
  options: Pick<ForkRunOptions, 'at' | 'message' | 'files'>,
): Promise<ForkPoint> {
  const { inherited, found } = beginningOf(await readRun(run), options)
  return { sha256: inherited.sha256, filesId: found?.filesId ?? null }
}

function beginningOf(
  summary: RunSummary,
  options: Pick<ForkRunOptions, 'at' | 'message' | 'files'> & { onCut?: () => void },
): { inherited: Inherited; found: FilesOfIteration | undefined } {
  let found: FilesOfIteration | undefined
  const inherited = readBeginning(summary.directory, (events) => {
    const count = cutAt(events, { ...options, summary })
    options.onCut?.()
    found = filesIn(events, summary, options)
    return count
  })
  return { inherited, found }
}

function filesIn(
  events: readonly StoredEvent[],
  { runId, directory }: RunSummary,
  { at, files }: Pick<ForkRunOptions, 'at' | 'files'>,
): FilesOfIteration | undefined {
  if (files === 'without') return undefined
  return filesOf(events, { at, name: shortName(runId), directory, mayMiss: files === 'allow_missing' })
}

/** The journal of another program names no agent of ours. */
function trustedPartOf(summary: RunSummary): RunSummary {
  if (!summary.imported) return summary
  const message = `Run ${summary.runId} was imported: it names no agent.`
  throw new EngineError('ERR_ENGINE_NO_AGENT', message, { path: summary.directory, wayOut: 'agent' })
}

/**
 * How many events the fork inherits: up to the last one of the iteration, without what ended the run or was said after it.
 *
 * @throws {EngineError} `ERR_ENGINE_FORK_AT`.
 */
function cutAt(
  stored: readonly StoredEvent[],
  { at, summary, message }: { at: number; summary: RunSummary; message?: string | undefined },
): number {
  const refuse = (why: string) => new EngineError('ERR_ENGINE_FORK_AT', why, { path: summary.directory })
  const name = shortName(summary.runId)
  if (!Number.isInteger(at) || at < 0) throw refuse(`--at ${at}: give a whole number, 0 for the task alone.`)
  if (at === 0) return firstMessage(stored, () => refuse(`--at 0: ${name} has no task.`)) + 1

  const thought = stored.findLast((event): event is Thought => isThoughtOf(event, at))
  if (thought === undefined) {
    const count = stored.reduce((most, event) => Math.max(most, isThought(event) ? event.iteration : 0), 0)
    throw refuse(`--at ${at}: ${name} has ${count} ${count === 1 ? 'iteration' : 'iterations'}.`)
  }
  const answered = new Set(
    stored.map((event) => isKnownEvent(event) && event.type === 'ACTION_RESULT' && event.action_id),
  )
  const open = thought.tool_calls.findIndex(({ action_id }) => !answered.has(action_id))
  if (open !== -1)
    throw refuse(`--at ${at}: call ${open + 1} of iteration ${at} has no result; --at ${at - 1} is complete.`)
  if (thought.tool_calls.length === 0 && message === undefined)
    throw refuse(`--at ${at} is the answer; say what comes next with -m.`)
  let last = stored.findLastIndex((event) => isPartOf(event, at))
  while (isAfterwardsOf(stored[last + 1], at)) last += 1
  return last + 1
}

type Thought = Extract<JournalEvent, { type: 'THOUGHT' }>

function isThought(event: StoredEvent): event is Thought {
  return isKnownEvent(event) && event.type === 'THOUGHT'
}

function isThoughtOf(event: StoredEvent, at: number): boolean {
  return isThought(event) && event.iteration === at
}

function firstMessage(events: readonly StoredEvent[], missing: () => EngineError): number {
  const index = events.findIndex(({ type }) => type === 'USER_MESSAGE')
  if (index === -1) throw missing()
  return index
}

const PARTS = new Set([
  'THOUGHT',
  'ACTION_REQUEST',
  'ACTION_RESULT',
  'HUMAN_INPUT_REQUEST',
  'HUMAN_INPUT_RECEIVED',
])

function isPartOf(event: StoredEvent, at: number): boolean {
  return PARTS.has(event.type) && 'iteration' in event && event.iteration === at
}

/** The hooks of its results and of its end, what they said, and its snapshot; not what ended the run. */
function isAfterwardsOf(event: StoredEvent | undefined, at: number): boolean {
  if (event === undefined || !isKnownEvent(event)) return false
  if (event.type === 'SNAPSHOT') return event.iteration <= at
  if (event.type === 'SYSTEM_MESSAGE') return event.iteration === at
  if (event.type !== 'HOOK_EXECUTION_AUDIT' || event.iteration !== at) return false
  return event.hook_name !== 'on_error' && event.hook_name !== 'on_run_end'
}

/** @throws {EngineError} `ERR_ENGINE_FORK_INTO`. */
function checkInto({ runId, directory }: RunSummary, { into, files }: ForkRunOptions): void {
  const refuse = (why: string) => new EngineError('ERR_ENGINE_FORK_INTO', why, { path: directory })
  const original = workDirectoryOf(directory)
  const [from, to] = [realPath(original ?? directory), realPath(into)]
  if (isInside(to, from) || isInside(from, to))
    throw refuse(`--into is inside the workspace of ${shortName(runId)} (or contains it).`)
  const what = statSync(into, { throwIfNoEntry: false })
  if (what === undefined) return
  if (!what.isDirectory()) throw refuse(`--into ${into}: it is a file, not a directory.`)
  if (files !== 'without' && readdirSync(into).length > 0)
    throw refuse(`--into ${into}: the directory is not empty. A fork never writes into existing files.`)
}

/** The directories that the model has read of, each with the fork's in its place. */
export function movedPaths(
  { directory, runId }: RunSummary,
  { events }: Inherited,
  fork: { into: string; directory: string },
): { paths: [string, string][] } {
  const isStart = (event: StoredEvent): event is EngineStart => event.type === 'ENGINE_START'
  const current = workDirectoryOf(directory)
  const start = events.findLast(isStart)
  const workspace = start?.work_dir ?? current
  if (workspace === undefined) return { paths: [[directory, fork.directory]] }
  const isWithin = current !== undefined && isInside(directory, current)
  const there = isWithin ? join(workspace, relative(current, directory)) : directory
  // a fork of a fork may inherit only what its parent has inherited: then it is that run's directory
  const recorded = join(dirname(there), start?.run_id ?? runId)
  const isForkWithin = isInside(fork.directory, fork.into)
  const absolute: [string, string][] = [
    [workspace, fork.into],
    [recorded, fork.directory],
  ]
  const linked = absolute.map(([from, to]): [string, string] => [realPath(from), to])
  return {
    paths: [
      ...linked.filter(([from]) => from !== workspace && from !== recorded), // a program may have said where a link leads to
      ...absolute,
      // results that were cut name the file with the rest from the workspace
      ...(isWithin
        ? [
            [
              relative(workspace, recorded),
              isForkWithin ? relative(fork.into, fork.directory) : fork.directory,
            ] as [string, string],
          ]
        : []),
    ],
  }
}
