import { join } from 'node:path'
import type { RunSummary } from '@delta/journal'
import { EngineError } from '../errors.js'
import { isYesOrNo, questionOf, readResponse } from '../human.js'
import { reasonCodeOf, retryOf } from '../outcome.js'

/** What `continueRun` was given; see `ContinueRunOptions`. */
interface Given {
  message?: string | undefined
  retry?: boolean | undefined
  decision?: { requestId: string } | undefined
}

/**
 * Refuses what cannot take a run further, before anything is written.
 *
 * @throws {EngineError} `ERR_ENGINE_NOT_WAITING`, `ERR_ENGINE_MESSAGE_REQUIRED`, `ERR_ENGINE_NO_RETRY`, `ERR_ENGINE_NO_ANSWER`, `ERR_ENGINE_USAGE`.
 */
export function checkContinuable(summary: RunSummary, given: Given): void {
  requireWaiting(summary, given)
  if (given.retry) requireRetry(summary, given)
  else requireMessage(summary, given)
  requireAnswer(summary, given)
}

function requireMessage({ status, directory: path }: RunSummary, { message }: Given): void {
  if ((status !== 'COMPLETED' && status !== 'FAILED') || message !== undefined) return
  throw new EngineError('ERR_ENGINE_MESSAGE_REQUIRED', `Run is ${status}. To continue, provide a message`, {
    path,
    wayOut: 'message',
  })
}

/** A run that is being written is refused by whoever takes it. */
function requireRetry(summary: RunSummary, { message, decision }: Given): void {
  if (message !== undefined || decision !== undefined)
    throw new EngineError('ERR_ENGINE_USAGE', 'A retry takes no message and no decision.')
  const { runId, status, metadata, directory: path } = summary
  if (status === 'RUNNING') return
  const code = reasonCodeOf(summary)
  if (status === 'FAILED' && retryOf(code) !== undefined) return
  const why =
    status !== 'FAILED'
      ? `it is ${status}, not FAILED. Continue it without a retry.`
      : code === undefined
        ? 'its journal has no reason_code, because an older version wrote it. Go on with a message.'
        : `it ended with ${code} (${metadata.error}). Go on with a message.`
  throw new EngineError('ERR_ENGINE_NO_RETRY', `Run ${runId} cannot be retried: ${why}`, {
    path,
    wayOut: status === 'FAILED' || status === 'COMPLETED' ? 'message' : 'continue',
  })
}

/**
 * A retry has the iterations that are left of those that the last message may take.
 *
 * @throws {EngineError} `ERR_ENGINE_NO_RETRY`: there are none.
 */
export function checkIterationsLeft(
  { runId, iterationsSinceMessage, directory: path }: RunSummary,
  maxIterations: number,
): void {
  if (iterationsSinceMessage < maxIterations) return
  throw new EngineError(
    'ERR_ENGINE_NO_RETRY',
    `Run ${runId} cannot be retried: it has used ${iterationsSinceMessage} of ${maxIterations} iterations. Raise max_iterations, for example to ${2 * maxIterations}, or go on with a message.`,
    { path, wayOut: 'message' },
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
  const said = request.sensitive ? 'the answer' : JSON.stringify(answer)
  const what =
    message === undefined ? `${join(interaction, 'response.txt')}: ${said}` : `The message: ${said}`
  throw new EngineError(
    'ERR_ENGINE_NO_ANSWER',
    `${what} is neither yes nor no, and the agent asks for one of them: ${request.prompt}\nAnswer with yes or no (or y, n); more may follow: "yes, but …".`,
  )
}
