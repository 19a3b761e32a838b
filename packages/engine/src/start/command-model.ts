import { type CommandOutcome, runCommand } from '@delta/executor'
import { type ChatModel, type ChatResponse, ModelError, parseCompletion } from '@delta/model'

/** A longer answer is cut, and then fails to parse. Bytes. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024

const WHAT_IT_PRINTS =
  'It must print one assistant message of the chat-completions format to stdout, such as {"content": "…"}, and nothing else; anything for people goes to stderr.'

/**
 * A model that is a command: it reads the request (JSON) on stdin and prints a completion in OpenAI's shape, or a bare
 * assistant message. It runs in the agent's directory.
 *
 * `complete` throws `ModelError`: `ERR_MODEL_CONNECTION` when the command did not start or failed, with the last line of
 * its stderr; `ERR_MODEL_TIMEOUT` when it took longer than `timeoutMs`, by default without end; `ERR_MODEL_RESPONSE` when it
 * printed something else.
 */
export function commandModel(
  argv: readonly string[],
  {
    cwd,
    environment,
    timeoutMs = 0,
  }: { cwd: string; environment: NodeJS.ProcessEnv; timeoutMs?: number | undefined },
): ChatModel {
  return {
    async complete(request, { signal } = {}) {
      const outcome = await runCommand(argv, {
        cwd,
        env: environment,
        stdin: JSON.stringify(request),
        keepBytes: MAX_RESPONSE_BYTES,
        keep: 'head',
        timeoutMs,
        ...(signal ? { signal } : {}),
      })
      if (outcome.status === 'EXITED' && outcome.exitCode === 0) return parse(argv, outcome.stdout.text)
      if (outcome.status === 'TIMEOUT') throw tookTooLong(argv, timeoutMs)
      throw new ModelError('ERR_MODEL_CONNECTION', `The model command ${argv[0]} ${howItEnded(outcome)}`)
    },
  }
}

function tookTooLong(argv: readonly string[], timeoutMs: number): ModelError {
  const message = `The model command ${argv[0]} had no answer within ${timeoutMs} ms (timeout_ms of llm).`
  return new ModelError('ERR_MODEL_TIMEOUT', message)
}

function howItEnded({ startError, exitCode, signal, status, stderr }: CommandOutcome): string {
  if (startError) return `did not start: ${startError.message}`
  const said = stderr.text.trim().split('\n').at(-1)
  return `ended with ${exitCode ?? signal ?? status}${said ? `: ${said}` : ''}`
}

function parse(argv: readonly string[], text: string): ChatResponse {
  try {
    return parseCompletion(JSON.parse(text))
  } catch (cause) {
    const message = `The model command ${argv[0]} did not print a completion: ${(cause as Error).message}\n${WHAT_IT_PRINTS}`
    throw new ModelError('ERR_MODEL_RESPONSE', message, { cause })
  }
}
