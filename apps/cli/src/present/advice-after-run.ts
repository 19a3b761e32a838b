import type { Question, RunResult } from '@delta/engine'
import { commandAt, commandToContinue, placeOfRun } from '../place.js'
import { EXIT } from '../terminal/terminal.js'
import { counted } from './counted.js'
import { claimOf } from './effects.js'
import { printable } from './printable.js'
import { wayToRetry } from './way-to-retry.js'
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
  const { reasonCode, maxIterations, needsMending = false } = result
  const isLimit = reasonCode === 'limit_iterations'
  const explained = isLimit
    ? ` (no answer after ${counted(result.iterations, 'iteration')}${limit(result)})`
    : ''
  return [
    `Error: the run failed: ${printable(result.reason)}${explained}`,
    ...(isLimit && needsMending ? [NO_JOURNAL] : []),
    ...(result.partialAnswer === undefined ? [] : [`See what there is of it: ${showLastStep(result, env)}`]),
    wayToRetry(resume(result, env), { reasonCode, maxIterations, onceFixed: needsMending }),
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
    ...waysToAnswer(question, goOn),
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
function waysToAnswer({ inputType, sensitive }: Question, goOn: string): string[] {
  const isConfirmation = inputType === 'confirmation'
  const [how, flag, other] = sensitive
    ? [
        'Answer unseen',
        `-i${isConfirmation ? '   (yes or no)' : ''}`,
        '-m - in place of -i reads it from stdin',
      ]
    : ['Answer', `-m ${isConfirmation ? 'yes   (or: -m no)' : '<response>'}`, '-i in place of -m asks here']
  return [
    `Agent paused. ${how} with: ${goOn} ${flag}`,
    `${other}. Or put it into interaction/response.txt in the directory of the run, and leave out both.`,
  ]
}

function resume(result: RunResult, _env: NodeJS.ProcessEnv): string {
  return commandToContinue(placeOfRun(result.runDirectory), result.runId)
}

function showLastStep(result: RunResult, _env: NodeJS.ProcessEnv): string {
  const { runId, runDirectory, iterations } = result
  return commandAt(placeOfRun(runDirectory), 'show', runId, '--step', String(iterations))
}
