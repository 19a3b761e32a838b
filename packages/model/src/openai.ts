import type { ChatModel } from './chat.js'
import { checkRequest } from './check-request.js'
import { ModelError } from './errors.js'
import { LLM_DEFAULTS } from './llm/defaults.js'
import { type Endpoint, openEndpoint, post } from './server/client.js'
import type { Asked } from './server/failure-kind.js'
import { errorWithoutKey, keyFilter, withoutKey } from './server/key.js'
import { readAnswer } from './server/read-answer.js'
import { checkBaseUrl, checkKey } from './server/settings.js'
import { watchSilence } from './server/silence.js'
import { requireThat } from './usage.js'

/** Where the API is, and with what it is asked. */
export interface OpenAiModelOptions {
  /** Not needed by a local server. The environment is not looked at. */
  readonly apiKey?: string | undefined
  /** Ends where `/chat/completions` is appended. Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string | undefined
  /** How long the server may send nothing of an answer, in milliseconds. Default 600000; 0: for ever. */
  readonly timeoutMs?: number | undefined
}

/**
 * A model behind an OpenAI-compatible chat-completions API. The `openai` package, loaded with the first request, says with which
 * address and headers it is asked. Nothing is retried, the body is `JSON.stringify(request)`, and an answer that was cut off
 * is an error, never an answer. With `stream: true` in the request the answer is read as it comes.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS` at once for a base URL or key that cannot work. `complete` throws every other
 *   code but those of scripts and recordings.
 */
export function openAiModel(options: OpenAiModelOptions = {}): ChatModel {
  checkOptions(options)
  const baseUrl = checkBaseUrl(options.baseUrl ?? LLM_DEFAULTS.baseUrl)
  const apiKey = checkKey(options.apiKey)
  const timeoutMs = options.timeoutMs ?? LLM_DEFAULTS.timeoutMs
  let endpoint: Promise<Endpoint> | undefined

  return {
    async complete(request, options = {}) {
      checkRequest(request, options)
      const { signal, body, onDelta } = options
      const asked: Asked = {
        url: `${baseUrl.origin}${baseUrl.pathname.replace(/\/$/, '')}/chat/completions`,
        model: request.model,
        hasKey: apiKey !== undefined,
      }
      const watch = watchSilence(timeoutMs, signal)
      const spoken = keyFilter(apiKey, (content) => onDelta?.({ content }))
      try {
        endpoint ??= openEndpoint(apiKey, baseUrl)
        const answer = await post(await endpoint, request, { body, watch, asked })
        const onText = spoken.push
        const response = await readAnswer(answer, { onText, onDone: watch.hurry, asked, heard: watch.heard })
        spoken.end()
        return withoutKey(response, apiKey)
      } catch (error) {
        const isSilence = watch.timedOut && Object(error).status === undefined // with one, the server has said what is wrong
        const failure = signal?.aborted ? stopped(error) : isSilence ? silent(asked, timeoutMs) : error
        throw errorWithoutKey(failure, apiKey)
      } finally {
        watch.stop()
      }
    },
  }
}

function checkOptions(options: OpenAiModelOptions): void {
  const of = 'openAiModel: the option'
  requireThat(
    typeof options === 'object' && options !== null,
    'openAiModel: what it is given',
    'an object with options, or nothing',
  )
  const { apiKey, baseUrl, timeoutMs } = options
  requireThat(apiKey === undefined || typeof apiKey === 'string', `${of} apiKey`, 'a string, or nothing')
  requireThat(baseUrl === undefined || typeof baseUrl === 'string', `${of} baseUrl`, 'a string, or nothing')
  const isTime = timeoutMs === undefined || (Number.isFinite(timeoutMs) && timeoutMs >= 0)
  requireThat(isTime, `${of} timeoutMs`, 'milliseconds, 0 for no limit, or nothing')
}

function stopped(cause: unknown): ModelError {
  return new ModelError('ERR_MODEL_ABORTED', 'The request was stopped.', { cause })
}

function silent(asked: Asked, timeoutMs: number): ModelError {
  return new ModelError(
    'ERR_MODEL_TIMEOUT',
    `${asked.url} sent nothing of its answer for ${timeoutMs} ms. If the model needs longer, raise the time limit: timeoutMs (in agent.yaml, llm.timeout_ms).`,
    { retryable: true },
  )
}
