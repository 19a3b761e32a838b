import { join } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import { latestRunId, type RunSummary, type RunsPlace } from '@delta/journal'
import { EngineError } from '../errors.js'
import { reasonCodeOf, retryOf } from '../failure.js'
import { readResponse } from '../human/interaction.js'
import { isYesOrNo, questionOf } from '../human/question.js'
import { placeArguments } from './place-arguments.js'

/** What `continueRun` was given; see `ContinueRunOptions`. */
interface Given extends RunsPlace {
  workDirectory: string
  message?: string | undefined
  retry?: boolean | undefined
  decision?: { requestId: string } | undefined
}

/**
 * Refuses what cannot take a run further, before anything is written.
 *
 * @throws {EngineError} `ERR_ENGINE_NOT_WAITING`, `ERR_ENGINE_MESSAGE_REQUIRED`, `ERR_ENGINE_NO_RETRY`, `ERR_ENGINE_NO_ANSWER`, `ERR_ENGINE_USAGE`.
 */
export async function checkContinuable(summary: RunSummary, given: Given): Promise<void> {
  requireWaiting(summary, given)
  if (given.retry) requireRetry(summary, given)
  else await requireMessage(summary, given)
  requireAnswer(summary, given)
}

async function requireMessage(summary: RunSummary, given: Given): Promise<void> {
  const ended = summary.status === 'COMPLETED' || summary.status === 'FAILED'
  if (!ended || given.message !== undefined) return
  throw new EngineError(
    'ERR_ENGINE_MESSAGE_REQUIRED',
    `Run is ${summary.status}. To continue, provide a message using -m/--message\n${await examples(summary, given)}`,
  )
}

/**
 * Commands ready to be pasted. For a completed run the answer is offered, too: a killed engine may not have printed it.
 */
async function examples(summary: RunSummary, given: Given): Promise<string> {
  const { status, runId, iterationsSinceMessage } = summary
  const isLatest = runId === (await latestRunId(given.workDirectory, { runsDirectory: given.runsDirectory }))
  const where = placeArguments(given)
  const goOn = ['delta', 'continue', ...where, ...(isLatest ? [] : ['--run-id', runId])]
  const again = `Example: ${quoteForPerson(goOn)} -m "Try again"`
  const retry = retryOf(reasonCodeOf(summary), iterationsSinceMessage)
  if (status === 'FAILED')
    return retry ? `${again}\nWithout a message: ${quoteForPerson([...goOn, ...retry.flags])}` : again
  const show = ['delta', 'show', ...(isLatest ? [] : [runId]), ...where, '--answer']
  return `Example: ${quoteForPerson(goOn)} -m "Now do something else"\nIts answer: ${quoteForPerson(show)}`
}

/** A run that is being written is refused by whoever takes it. */
function requireRetry(summary: RunSummary, { message, decision }: Given): void {
  if (message !== undefined || decision !== undefined)
    throw new EngineError('ERR_ENGINE_USAGE', 'A retry takes no message and no decision.')
  const { runId, status, metadata } = summary
  if (status === 'RUNNING') return
  const code = reasonCodeOf(summary)
  if (status === 'FAILED' && retryOf(code) !== undefined) return
  const why =
    status !== 'FAILED'
      ? `it is ${status}, not FAILED. Continue it without --retry.`
      : code === undefined
        ? 'its journal has no reason_code, because an older version wrote it. Go on with a message (-m).'
        : `it ended with ${code} (${metadata.error}). Go on with a message (-m).`
  throw new EngineError('ERR_ENGINE_NO_RETRY', `Run ${runId} cannot be retried: ${why}`)
}

/**
 * A retry has the iterations that are left of those that the last message may take.
 *
 * @throws {EngineError} `ERR_ENGINE_NO_RETRY`: there are none.
 */
export function checkIterationsLeft(
  { runId, iterationsSinceMessage }: RunSummary,
  maxIterations: number,
): void {
  if (iterationsSinceMessage < maxIterations) return
  throw new EngineError(
    'ERR_ENGINE_NO_RETRY',
    `Run ${runId} cannot be retried: it has used ${iterationsSinceMessage} of ${maxIterations} iterations. Raise the limit, for example with --max-iterations ${2 * maxIterations}, or go on with a message (-m).`,
  )
}

function requireWaiting({ runId, humanRequest }: RunSummary, { decision }: Given): void {
  const waiting = humanRequest?.argv === undefined ? undefined : humanRequest.request_id
  if (decision === undefined || decision.requestId === waiting) return
  const known =
    waiting === undefined ? 'No command waits for approval there.' : `The one that waits is ${waiting}.`
  throw new EngineError(
    'ERR_ENGINE_NOT_WAITING',
    `No command with the request id ${decision.requestId} waits in run ${runId}. ${known}`,
  )
}

/**
 * The answer must be readable, and to a confirmation it must be yes or no: the model would interpret anything else, and may
 * take it for a yes.
 */
function requireAnswer(summary: RunSummary, { message }: Given): void {
  const { humanRequest: request, directory } = summary
  if (request === undefined || request.argv !== undefined) return
  const interaction = join(directory, 'interaction')
  const answer = message ?? readResponse(interaction, questionOf(request))
  if (request.input_type !== 'confirmation' || answer === undefined || isYesOrNo(answer)) return
  const where = message === undefined ? join(interaction, 'response.txt') : '-m'
  throw new EngineError(
    'ERR_ENGINE_NO_ANSWER',
    `${where}: ${request.sensitive ? 'The answer' : JSON.stringify(answer)} is neither yes nor no, and the agent asks for one of them: ${request.prompt}\nAnswer with yes or no (or y, n); more may follow: "yes, but …".`,
  )
}
