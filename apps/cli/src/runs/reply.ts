import type { RunSummary } from '@delta/journal'
import { askAtTerminal } from '../present/ask.js'
import { StoppedError, stopSignal } from '../terminal/stop-signal.js'
import type { Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'
import { readMessage } from './message.js'

/**
 * The message of `delta continue`, as `-m` gives it. With `-m -` at a terminal, the answer to a sensitive question or the
 * password is asked for as with `-i`: one line, not echoed.
 *
 * @throws {UsageError} It is empty. {StoppedError} Ctrl+C.
 */
export async function readReply(
  value: string | undefined,
  { humanRequest: request }: RunSummary,
  terminal: Terminal,
): Promise<string | undefined> {
  const isTypedUnseen =
    request?.argv === undefined && (request?.sensitive || request?.input_type === 'password')
  if (value !== '-' || !isTypedUnseen || !terminal.stdin.isTTY) return readMessage(value, terminal)
  using stop = stopSignal(terminal)
  const question = {
    requestId: request.request_id ?? '',
    prompt: request.prompt,
    inputType: request.input_type === 'confirmation' ? ('confirmation' as const) : ('password' as const),
    sensitive: true,
  }
  const answer = await askAtTerminal(question, terminal, stop.signal)
  if (stop.signal.aborted) throw new StoppedError(stop.signal, undefined, 'Nothing was changed.')
  if (answer === undefined || answer.trim() === '')
    throw new UsageError('The answer (-m -) is empty. The question is still waiting.')
  return answer
}
