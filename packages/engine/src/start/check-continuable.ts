import { join } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import { latestRunId, type RunSummary, type RunsPlace } from '@delta/journal'
import { EngineError } from '../errors.js'
import { readResponse } from '../human/interaction.js'
import { isYesOrNo, questionOf } from '../human/question.js'
import { placeArguments } from './place-arguments.js'

/** What `continueRun` was given; see `ContinueRunOptions`. */
interface Given extends RunsPlace {
  workDirectory: string
  message?: string | undefined
  decision?: { requestId: string } | undefined
}

/**
 * Refuses what cannot take a run further, before anything is written.
 *
 * @throws {EngineError} `ERR_ENGINE_NOT_WAITING`, `ERR_ENGINE_MESSAGE_REQUIRED`, `ERR_ENGINE_NO_ANSWER`.
 */
export async function checkContinuable(summary: RunSummary, given: Given): Promise<void> {
  requireWaiting(summary, given)
  await requireMessage(summary, given)
  requireAnswer(summary, given)
}

async function requireMessage(summary: RunSummary, given: Given): Promise<void> {
  const ended = summary.status === 'COMPLETED' || summary.status === 'FAILED'
  if (!ended || given.message !== undefined) return
  if (summary.errorCode === 'ERR_MODEL_REPLAY_DIFFERS')
    throw new EngineError(
      'ERR_ENGINE_MESSAGE_REQUIRED',
      'Run is FAILED, and would go on with requests that were not recorded. Start a new run: a replay cannot answer a further message.',
    )
  throw new EngineError(
    'ERR_ENGINE_MESSAGE_REQUIRED',
    `Run is ${summary.status}. To continue, provide a message using -m/--message\n${await examples(summary, given)}`,
  )
}

/**
 * Commands ready to be pasted. For a failed run any message will do: it makes the engine ask the model again. For a completed
 * run the answer is offered, too: a killed engine may not have printed it.
 */
async function examples({ status, runId }: RunSummary, given: Given): Promise<string> {
  const isLatest = runId === (await latestRunId(given.workDirectory, { runsDirectory: given.runsDirectory }))
  const where = placeArguments(given)
  const goOn = ['delta', 'continue', ...where, ...(isLatest ? [] : ['--run-id', runId])]
  if (status === 'FAILED') return `Example: ${quoteForPerson(goOn)} -m "Try again"`
  const show = ['delta', 'show', ...(isLatest ? [] : [runId]), ...where, '--answer']
  return `Example: ${quoteForPerson(goOn)} -m "Now do something else"\nIts answer: ${quoteForPerson(show)}`
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
