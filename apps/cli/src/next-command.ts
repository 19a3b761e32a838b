import { join } from 'node:path'
import { limitsIn } from '@delta/config-loader/internal'
import type { Question, RunResult } from '@delta/engine'
import { hasUnread, needsNewRun, raised, retryOf } from '@delta/engine/internal'
import { quoteForPerson } from '@delta/executor'
import type { RunSummary } from '@delta/journal/runs'
import type { Place } from '@delta/workspace'
import { commandAt, commandToContinue, placeOfRun } from '@delta/workspace/internal'
import { EXIT } from './terminal.js'
import { claimOf, counted, printable, wrapped } from './text.js'

/** A run that does not go on by itself, as far as the next command depends on it. */
interface Stopped {
  runId: string
  runDirectory: string
  status: RunSummary['status']
  reasonCode?: string | undefined
  /** How many iterations the last message could take. */
  maxIterations?: number | undefined
  /** What a retry needs to be set, as `path=value`. */
  retryWith?: string | undefined
  question?: AskedFor | undefined
}

type AskedFor = Pick<Question, 'requestId' | 'inputType' | 'sensitive'> & { command?: string | undefined }

/** What a person may type next, by the status of the run: lines, none if it is completed. */
function nextCommand(run: Stopped): string[] {
  const place = placeOfRun(run.runDirectory)
  const resume = commandToContinue(place, run.runId)
  switch (run.status) {
    case 'WAITING_FOR_INPUT':
      return run.question === undefined ? [] : waysToAnswer(run.question, resume, run.runDirectory)
    case 'INTERRUPTED':
      return [`Go on with: ${resume}`]
    case 'FAILED':
      return [needsNewRun(run.reasonCode) ? newRun(place) : wayToRetry(run, resume)]
    case 'RUNNING':
      return [`It is running. Watch it with: ${commandAt(place, 'show', run.runId, '--follow')}`]
    default:
      return []
  }
}

/** A command is allowed or refused by its id. A secret is better typed unseen: a command line stays in the shell's history. */
function waysToAnswer(
  { requestId, command, inputType, sensitive }: AskedFor,
  resume: string,
  runDirectory: string,
): string[] {
  if (command !== undefined)
    return [
      `Allow it with: ${resume} --approve ${requestId}`,
      'To refuse it, use --deny instead of --approve.',
    ]
  const isConfirmation = inputType === 'confirmation'
  const response = quoteForPerson([join(runDirectory, 'interaction/response.txt')])
  const file = `or write it to ${response} and continue without a message.`
  if (sensitive)
    return [
      `Answer unseen with: ${resume} -i${isConfirmation ? '   (yes or no)' : ''}`,
      `Or use -m - to read it from stdin, ${file}`,
    ]
  return [
    `Answer with: ${resume} -m ${isConfirmation ? 'yes   (or: -m no)' : '"my answer"'}`,
    `Or use -i to answer here, ${file}`,
  ]
}

/** The line for a run that only a new run can follow. */
export function newRun(place: Place): string {
  return `To start a new one: ${commandAt(place, 'run')} --agent <agent> -m <task>`
}

/** The line for a failed run: `--retry` or, where that is refused, a message. */
function wayToRetry({ reasonCode, maxIterations, retryWith }: Stopped, resume: string): string {
  if (retryWith !== undefined) return `To continue: ${resume} --retry --set ${retryWith}`
  const retry = retryOf(reasonCode, maxIterations)
  if (!retry) return `Go on with: ${resume} -m "Go on"`
  const verb = reasonCode === 'limit_iterations' ? 'go on' : 'retry'
  const way = retry.onceFixed
    ? `Once that is fixed, ${verb}`
    : `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`
  const limit = retry.maxIterations === undefined ? '' : ` --max-iterations ${retry.maxIterations}`
  return `${way} with: ${resume} --retry${limit}`
}

/** What a person may type next about a run that was read from disk; nothing if its journal is damaged or imported. */
export function nextCommandOf(run: RunSummary): string[] {
  if (run.problem !== undefined || run.imported !== undefined) return []
  const { humanRequest: request, metadata, status } = run
  const stopped = {
    ...run,
    runDirectory: run.directory,
    reasonCode: metadata.reason_code ?? undefined,
    maxIterations: metadata.max_iterations ?? run.iterationsSinceMessage,
    ...raised(metadata.reason_code ?? undefined, limitsIn(run)),
    question: request && {
      requestId: request.request_id ?? '',
      command: request.argv?.join(' '),
      inputType: request.input_type === 'confirmation' ? ('confirmation' as const) : ('text' as const),
      sensitive: request.sensitive ?? false,
    },
  }
  // an engine that was killed wrote no ENGINE_END that says so
  const wasKilled = status === 'INTERRUPTED' && metadata.end_time === null
  return [...(wasKilled ? ['It was interrupted: no process is writing it.'] : []), ...nextCommand(stopped)]
}

/**
 * What a person needs to know when a run ends without an answer, or with a doubtful one: why, and how to go on.
 *
 * @param quiet - The line of `ENGINE_END` has not been printed.
 * @param columns - Width of the terminal, if it is one.
 * @param isForReading - Nothing goes on with the run.
 */
export function endOf(
  result: RunResult,
  { quiet, columns, isForReading }: { quiet: boolean; columns: number | undefined; isForReading: boolean },
): string[] {
  const interrupted = quiet && result.status === 'INTERRUPTED' ? [`Interrupted (${result.reason}).`] : []
  const next = isForReading ? [] : [...nextCommand(result), ...whatIsUnread(result)]
  return [...interrupted, ...whyItEnded(result, columns), ...next]
}

/** An interrupted run is told to go on anyway, and one that waits is to be answered first. */
function whatIsUnread({ status, runDirectory, runId }: RunResult): string[] {
  if ((status !== 'COMPLETED' && status !== 'FAILED') || !hasUnread(runDirectory)) return []
  const resume = commandToContinue(placeOfRun(runDirectory), runId)
  return [`What was said to it too late waits. To let it read that: ${resume}`]
}

function whyItEnded(result: RunResult, columns: number | undefined): string[] {
  switch (result.status) {
    case 'COMPLETED':
      return result.reason === undefined ? [] : [`Warning: ${printable(result.reason)}.`]
    case 'WAITING_FOR_INPUT':
      return whatWaits(result.question, columns)
    case 'INTERRUPTED':
      return []
    case 'FAILED': {
      if (SPENT.has(result.reasonCode)) return [spentIn(result)]
      const isLimit = result.reasonCode === 'limit_iterations'
      const place = placeOfRun(result.runDirectory)
      const show = commandAt(place, 'show', result.runId, '--step', String(result.iterations))
      const explained = isLimit
        ? ` (no answer after ${counted(result.iterations, 'iteration')}; max_iterations is ${result.maxIterations})`
        : ''
      return [
        `Error: the run failed: ${printable(result.reason)}${explained}`,
        ...(result.partialAnswer === undefined ? [] : [`See what there is of it: ${show}`]),
      ]
    }
    default:
      return result satisfies never
  }
}

const SPENT = new Set(['limit_tokens', 'limit_cost', 'limit_wall_time'])

function spentIn({ status, reasonCode, reason = '', iterations }: RunResult): string {
  const after = iterations === 0 ? '' : ` after ${counted(iterations, 'iteration')}`
  return `${status} (${reasonCode})${after}: ${printable(reason)}`
}

function whatWaits(
  { prompt, command, started, reasons, effects }: Question,
  columns: number | undefined,
): string[] {
  if (command === undefined)
    return `Agent paused. It asks: ${printable(prompt)}`.split('\n').flatMap((line) => wrapped(line, columns))
  return [
    `A command waits for approval (exit code ${EXIT.waiting}):`,
    `  ${printable(command)}`,
    ...(started === undefined ? [] : ['Started in a sandbox, as:', `  ${printable(started)}`]),
    `Asked because of: ${printable(reasons?.join(', ') || 'the policy')}`,
    claimOf(effects),
  ]
}
