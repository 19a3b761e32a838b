import { isUtf8 } from 'node:buffer'
import type { OpenAI } from 'openai'
import type { ChatModel, ChatResponse, CompleteOptions } from './chat.js'
import { openClient, post } from './client.js'
import { parseCompletion } from './completion.js'
import { unreadableBody } from './connection.js'
import { LLM_DEFAULTS } from './defaults.js'
import { checkDepth } from './depth.js'
import { ModelError } from './errors.js'
import { type Asked, inlineError, notJson, notUtf8 } from './failure.js'
import { withoutKey } from './key.js'
import { readEvents } from './server-sent-events.js'
import { checkBaseUrl, checkKey } from './settings.js'
import { watchSilence } from './silence.js'
import { readStream } from './stream.js'
import type { HttpAnswer } from './transport.js'

export interface OpenAiModelOptions {
  /** Not needed by a local server. The environment is not looked at. */
  readonly apiKey?: string
  /** Ends where `/chat/completions` is appended. Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string
  /** How long the server may send nothing, in milliseconds. Default 600000; 0: for ever. */
  readonly timeoutMs?: number
}

/**
 * A model behind an OpenAI-compatible chat-completions API, asked through the `openai` package, which is loaded with the
 * first request. The package's own retries are off, the body is `JSON.stringify(request)`, and an answer that was cut off
 * is an error, never an answer. With `stream: true` in the request the answer is read as it comes.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS` at once for a base URL or key that cannot work. `complete` throws every other
 *   code but those of scripts and recordings.
 */
export function openAiModel(options: OpenAiModelOptions = {}): ChatModel {
  const baseUrl = checkBaseUrl(options.baseUrl ?? LLM_DEFAULTS.baseUrl)
  const apiKey = checkKey(options.apiKey)
  const timeoutMs = options.timeoutMs ?? LLM_DEFAULTS.timeoutMs
  let client: Promise<OpenAI> | undefined

  return {
    async complete(request, { signal, body: text, onDelta } = {}) {
      const asked: Asked = {
        url: `${baseUrl.origin}${baseUrl.pathname}/chat/completions`,
        model: request.model,
        hasKey: apiKey !== undefined,
      }
      const watch = watchSilence(timeoutMs, signal)
      try {
        client ??= openClient(apiKey, baseUrl)
        const answer = await post(await client, request, { body: text, signal: watch.signal, asked })
        return await readAnswer(answer, { onDelta, onDone: watch.hurry, asked, heard: watch.heard })
      } catch (error) {
        const failure = signal?.aborted ? stopped(error) : watch.timedOut ? silent(asked, timeoutMs) : error
        throw withoutKey(failure, apiKey)
      } finally {
        watch.stop()
      }
    },
  }
}

const BYTE_ORDER_MARK = /^\uFEFF/

interface AnswerContext {
  readonly onDelta: CompleteOptions['onDelta']
  /** The answer is there, though its stream has not ended. */
  readonly onDone: () => void
  readonly asked: Asked
  /** Something came. */
  readonly heard: () => void
}

async function readAnswer(answer: HttpAnswer, context: AnswerContext): Promise<ChatResponse> {
  const { onDelta, onDone, asked, heard } = context
  // some servers stream whether they were asked to or not
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
  if (isStream) return readStream(readEvents(pieces(answer, context), asked), { onDelta, onDone, asked })

  const bytes = await answer.bytes(heard).catch((error: unknown) => {
    throw unreadableBody(error, asked)
  })
  const response = parseCompletion(parseBody(bytes, asked))
  if (response.message.content) onDelta?.({ content: response.message.content })
  return response
}

async function* pieces({ body }: HttpAnswer, { heard, asked }: AnswerContext): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      heard()
      yield chunk
    }
  } catch (error) {
    throw unreadableBody(error, asked)
  }
}

function parseBody(bytes: Uint8Array, asked: Asked): unknown {
  const text = Buffer.from(bytes).toString('utf8').replace(BYTE_ORDER_MARK, '')
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw notJson(text, asked, cause)
  }
  if (!isUtf8(bytes)) throw notUtf8(asked)
  checkDepth(body)
  const failure = inlineError((body ?? {}) as Record<string, unknown>, asked)
  if (failure) throw failure
  return body
}

function stopped(cause: unknown): ModelError {
  return new ModelError('ERR_MODEL_ABORTED', 'The request was stopped.', { cause })
}

function silent(asked: Asked, timeoutMs: number): ModelError {
  return new ModelError(
    'ERR_MODEL_TIMEOUT',
    `${asked.url} sent nothing for ${timeoutMs} ms. If the model needs longer, raise the time limit: timeoutMs (in agent.yaml, llm.timeout_ms).`,
    { retryable: true },
  )
}
