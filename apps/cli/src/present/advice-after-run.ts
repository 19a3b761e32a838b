import { join } from 'node:path'
import type { Question, RunResult } from '@delta/engine'
import { quoteForPerson } from '@delta/executor'
import { EXIT } from '../terminal/terminal.js'
import { commandToContinue } from '../usage/command-to-continue.js'
import { placeArguments, placeOfRun } from '../usage/place.js'
import { spokenName } from '../usage/spoken-name.js'
import { counted } from './counted.js'
import { claimOf } from './effects.js'
import { printable } from './printable.js'
import { waysToDecide } from './ways-to-decide.js'

/**
 * What a person needs to know when a run ends without an answer, or with a doubtful one: why, and how to go on.
 *
 * @param endIsTold - The line of `ENGINE_END` has been printed.
 * @param asked - The request id of the question that has been printed, if any.
 * @returns Lines; none if there is nothing to say.
 */
export function adviceAfterRun(
  result: RunResult,
  { env, endIsTold, asked }: { env: NodeJS.ProcessEnv; endIsTold: boolean; asked: string | undefined },
): string[] {
  switch (result.status) {
    case 'COMPLETED':
      return result.reason === undefined ? [] : [`Warning: ${printable(result.reason)}.`]
    case 'WAITING_FOR_INPUT':
      return howToAnswer(result, env, asked)
    case 'INTERRUPTED':
      return [`${endIsTold ? '' : `Interrupted (${result.reason}). `}Go on with: ${resume(result, env)}`]
    case 'FAILED':
      return howToRetry(result, env)
    default:
      return result satisfies never
  }
}

type ResultOf<Status extends RunResult['status']> = Extract<RunResult, { status: Status }>

/** What must be fixed if a run without a journal source ran out of iterations. */
const NO_JOURNAL =
  'The model saw neither the task nor what it did. Add to the sources of context.yaml: - type: journal'

function howToRetry(result: ResultOf<'FAILED'>, env: NodeJS.ProcessEnv): string[] {
  const goOn = resume(result, env)
  if (result.reason === 'MAX_ITERATIONS') {
    return [
      `Error: the run failed: MAX_ITERATIONS (no answer after ${counted(result.iterations, 'iteration')}${limit(result)})`,
      ...(result.needsMending ? [NO_JOURNAL] : []),
      `${result.needsMending ? 'Once that is fixed, go' : 'Go'} on with: ${goOn} -m "Go on"`,
    ]
  }
  if (result.needsNewRun) {
    return [
      `Error: the run failed: ${printable(result.reason)}`,
      'Then start a new run: this one would go on with requests that were not recorded.',
    ]
  }
  const retry = result.needsMending ? 'Once that is fixed, retry with' : 'Retry with'
  return [
    `Error: the run failed: ${printable(result.reason)}`,
    ...(result.partialAnswer === undefined ? [] : [`See what there is of it: ${showLastStep(result, env)}`]),
    `${retry}: ${goOn} -m "Try again"`,
  ]
}

/** Explains the number of iterations where it differs from the limit: after several messages, or another limit. */
function limit({ iterations, maxIterations }: ResultOf<'FAILED'>): string {
  if (maxIterations === undefined || maxIterations === iterations) return ''
  return `; the limit for one message is ${maxIterations}, unless --max-iterations changes it`
}

function howToAnswer(
  result: ResultOf<'WAITING_FOR_INPUT'>,
  env: NodeJS.ProcessEnv,
  asked: string | undefined,
): string[] {
  const goOn = resume(result, env)
  const { question } = result
  const isAsked = question.requestId === asked
  if (question.command !== undefined) {
    return [
      ...(isAsked ? [`The command waits for approval (exit code ${EXIT.waiting}).`] : whatWaits(question)),
      ...waysToDecide(goOn, question.requestId),
    ]
  }
  return [
    ...(isAsked ? [] : [`The agent asks: ${printable(question.prompt)}`]),
    ...waysToAnswer(question, result, goOn),
  ]
}

function whatWaits({ command = '', started, reasons, effects }: Question): string[] {
  return [
    `A command waits for approval (exit code ${EXIT.waiting}):`,
    `  ${printable(command)}`,
    ...(started === undefined ? [] : ['Started in a sandbox, as:', `  ${printable(started)}`]),
    `Asked because of: ${printable(reasons?.join(', ') || 'the policy')}`,
    claimOf(effects),
  ]
}

/** A secret is better typed unseen; on a command line it would stay in the shell's history. */
function waysToAnswer(
  { inputType, sensitive }: Question,
  { runDirectory }: RunResult,
  goOn: string,
): string[] {
  const isConfirmation = inputType === 'confirmation'
  const example = isConfirmation ? 'yes   (or: -m no)' : '<response>'
  return [
    ...(sensitive ? [`Answer unseen with: ${goOn} -i${isConfirmation ? '   (yes or no)' : ''}`] : []),
    `Agent paused. Provide response in ${printable(join(runDirectory, 'interaction', 'response.txt'))}`,
    `Then go on with: ${goOn}`,
    `Or use: ${goOn} -m ${sensitive ? '-   (reads stdin)' : example}`,
    ...(sensitive ? [] : [`Or be asked here: ${goOn} -i`]),
  ]
}

function resume(result: RunResult, env: NodeJS.ProcessEnv): string {
  return commandToContinue(placeOfRun(result.runDirectory), result.runId, env)
}

function showLastStep(result: RunResult, env: NodeJS.ProcessEnv): string {
  const { runId, runDirectory, iterations } = result
  const where = [...placeArguments(placeOfRun(runDirectory)), '--step', String(iterations)]
  return quoteForPerson([...spokenName(env), 'show', runId, ...where])
}
