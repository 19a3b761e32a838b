import { runCommand } from '@delta/executor'
import { type AssistantMessage, type ChatModel, type ChatResponse, ModelError, type Usage } from '@delta/model'

/**
 * A model that is a command: it reads the request (JSON) on stdin and prints a response in the shape of chat
 * completions, or a bare assistant message. It runs in the agent's directory.
 *
 * @throws {ModelError} `ERR_MODEL_…` from `complete`, with the last line of stderr: it did not start, failed, or
 *   printed something else.
 */
export function commandModel(
  argv: readonly string[],
  { cwd, environment }: { cwd: string; environment: NodeJS.ProcessEnv },
): ChatModel {
  return {
    async complete(request, { signal } = {}) {
      const result = await runCommand(argv, {
        cwd,
        env: environment,
        stdin: JSON.stringify(request),
        keepBytes: MAX_RESPONSE_BYTES,
        keep: 'head',
        ...(signal ? { signal } : {}),
      })
      if (result.status === 'EXITED' && result.exitCode === 0) return parseResponse(argv, result.stdout.text)
      const said = result.stderr.text.trim().split('\n').at(-1) ?? ''
      const how = result.startError?.message ?? `ended with ${result.exitCode ?? result.signal ?? result.status}`
      throw new ModelError('ERR_MODEL_COMMAND', `The model command ${argv[0]} ${how}${said ? `: ${said}` : ''}`, { retryable: false })
    },
  }
}

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024

function parseResponse(argv: readonly string[], text: string): ChatResponse {
  const raw = parse(argv, text)
  const body = Object(raw) as { choices?: { message?: AssistantMessage; finish_reason?: string }[]; usage?: Usage }
  const choice = body.choices?.[0]
  const message = choice?.message ?? (raw as AssistantMessage)
  if (message?.role !== 'assistant') {
    throw new ModelError('ERR_MODEL_COMMAND', `The model command ${argv[0]} printed JSON without an assistant message.`, { retryable: false })
  }
  return {
    message,
    raw,
    ...(choice?.finish_reason === undefined ? {} : { finishReason: choice.finish_reason }),
    ...(body.usage === undefined ? {} : { usage: body.usage }),
  }
}

function parse(argv: readonly string[], text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ModelError('ERR_MODEL_COMMAND', `The model command ${argv[0]} printed no JSON: ${(cause as Error).message}`, { retryable: false, cause })
  }
}
