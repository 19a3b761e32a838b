import type { InvocationRecord } from '../requests/request-log.js'
import type { Run } from './run.js'

/**
 * Records what is about to be sent to a model, before it is sent.
 *
 * A message or a set of parameters that was sent before is not written again: the
 * record names lines of `io/parts.jsonl`. The first ten records of a run hold the
 * request whole besides.
 *
 * @param invocation.request - The body, as the object it will be made of.
 * @param invocation.blocks - What the context says about where it came from; kept as it is.
 * @param invocation.texts - What `JSON.stringify` makes of each of the request's messages, when the caller has it: a long
 *   conversation is then not written out anew each time.
 * @throws {JournalError} `ERR_JOURNAL_WRITE`, `ERR_RUN_LOST`, `ERR_JOURNAL_CLOSED`.
 */
export function recordInvocation(
  run: Run,
  invocation: {
    iteration: number
    request: object
    blocks?: readonly object[] | undefined
    texts?: readonly string[] | undefined
  },
): InvocationRecord {
  return run.requests.record(invocation)
}
