import type { RunSummary } from '@delta/journal/runs'
import { conclude } from './conclude.js'
import type { Failure, FailureCode } from './outcome.js'

/** What an error means for the run; every other one is `internal`. */
const OF_ERROR: ReadonlyMap<unknown, FailureCode> = new Map([
  ['ERR_MODEL_CONNECTION', 'provider_unavailable'],
  ['ERR_MODEL_TIMEOUT', 'provider_unavailable'],
  ['ERR_MODEL_RATE_LIMIT', 'provider_unavailable'],
  ['ERR_MODEL_SERVER', 'provider_unavailable'],
  ['ERR_MODEL_QUOTA', 'provider_refused'],
  ['ERR_MODEL_ACCESS', 'provider_refused'],
  ['ERR_MODEL_NOT_FOUND', 'provider_refused'],
  ['ERR_MODEL_REQUEST', 'provider_refused'],
  ['ERR_MODEL_TOO_LONG', 'context_overflow'],
  ['ERR_MODEL_RESPONSE', 'provider_answer'],
  ['ERR_MODEL_SETTINGS', 'configuration'],
  ['ERR_MODEL_SCRIPT_END', 'configuration'],
  ['ERR_MODEL_REPLAY_DIFFERS', 'replay_mismatch'],
  ['ERR_CONTEXT_SOURCE', 'context_source'],
  ['ERR_CONTEXT_GENERATOR', 'context_source'],
  ['ERR_CONTEXT_COUNTER', 'context_source'],
  ['ERR_CONTEXT_BUDGET', 'context_overflow'],
])

/** The failure of a run that an error ended. */
export function failureBy(
  error: { message: string; code?: unknown },
  about: { iteration: number; details: object },
): Failure {
  return {
    status: 'FAILED',
    reason: error.message,
    reasonCode: OF_ERROR.get(error.code) ?? 'internal',
    ...about,
  }
}

/** When a retry can succeed. */
const RETRY: Readonly<Record<FailureCode, 'at once' | 'once fixed' | 'refused'>> = {
  empty_answer: 'at once',
  unparsed_tool_call: 'at once',
  missing_tool_call: 'at once',
  limit_iterations: 'at once', // with a higher limit
  context_overflow: 'once fixed',
  content_filter: 'at once',
  cut_off: 'at once',
  model_refused: 'at once',
  hook_stopped: 'refused',
  critical_tool: 'refused',
  provider_unavailable: 'at once',
  provider_refused: 'once fixed',
  provider_answer: 'at once',
  context_source: 'once fixed',
  replay_mismatch: 'once fixed',
  configuration: 'once fixed',
  internal: 'at once',
}

/** How a failed run is retried without a message. */
interface Retry {
  /** The limit that it needs, where that ended the run. */
  maxIterations?: number
  /** True when it fails again until something outside of the run is changed. */
  onceFixed: boolean
}

/**
 * How a run that ended with this code is retried. Undefined when that is refused: the code is missing, unknown to this
 * version, or of an end that was decided on.
 *
 * @param maxIterations - How many cycles the last message could take; counts after `limit_iterations`.
 */
export function retryOf(code: string | undefined, maxIterations = 1): Retry | undefined {
  const how = isFailureCode(code) ? RETRY[code] : 'refused'
  if (how === 'refused') return undefined
  const onceFixed = how === 'once fixed'
  return code === 'limit_iterations' ? { maxIterations: 2 * maxIterations, onceFixed } : { onceFixed }
}

function isFailureCode(code: unknown): code is FailureCode {
  return typeof code === 'string' && Object.hasOwn(RETRY, code)
}

/** How a run ended. For one of an older version, which journaled no `reason_code`, it is derived where the journal tells. */
export function reasonCodeOf({
  metadata,
  status,
  errorCode,
  answer,
  lastThought,
}: RunSummary): string | undefined {
  if (metadata.reason_code !== null || status !== 'FAILED') return metadata.reason_code ?? undefined
  if (metadata.error === MAX_ITERATIONS) return 'limit_iterations'
  if (errorCode !== undefined)
    return failureBy({ message: '', code: errorCode }, { iteration: 0, details: {} }).reasonCode
  const outcome =
    answer === undefined || !lastThought ? undefined : conclude(lastThought, { acceptEmpty: true })
  return outcome?.status === 'FAILED' ? outcome.reasonCode : undefined
}

/** The `reason` of a run that is out of iterations. */
export const MAX_ITERATIONS = 'MAX_ITERATIONS'

/** The failure that the last engine journaled, but was killed before it could write the `ENGINE_END`. */
export function recordedFailure({ failure, answer }: RunSummary): Failure | undefined {
  const { reason_code: reasonCode } = Object(failure?.error_details) as { reason_code?: unknown }
  if (!failure || !isFailureCode(reasonCode)) return undefined
  const { error_message: reason, iteration = 0 } = failure
  return { status: 'FAILED', reason, reasonCode, iteration, ...(answer?.trim() && { partialAnswer: answer }) }
}
