import type { OpenAI } from 'openai'
import type { ChatModel, ChatRequest, ChatResponse, CompleteOptions } from './chat.js'
import { parseCompletion } from './completion.js'
import { connectionError, unreadableBody } from './connection.js'
import { ModelError } from './errors.js'
import { type Asked, inlineError, notJson, statusError } from './failure.js'
import { withoutKey } from './key.js'
import { readEvents } from './server-sent-events.js'
import { watchSilence } from './silence.js'
import { readStream } from './stream.js'
import { createTransport, type HttpAnswer, type HttpCall, readText } from './transport.js'

export interface OpenAiModelOptions {
  /** Not needed by a local server. The environment is not looked at. */
  readonly apiKey?: string
  /** Ends where `/chat/completions` is appended. Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string
  /** How long the server may send nothing, in milliseconds. Default 600000; 0: for ever. */
  readonly timeoutMs?: number
}

const OPENAI_URL = 'https://api.openai.com/v1'
const DEFAULT_TIMEOUT_MS = 600_000

/**
 * A model behind an OpenAI-compatible chat-completions API, asked through the `openai` package, which is loaded with the
 * first request. The package's own retries are off, the body is `JSON.stringify(request)`, and an answer that was cut off
 * is an error, never an answer. With `stream: true` in the request the answer is read as it comes.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS` at once for a base URL that is none or holds credentials. `complete` throws
 *   every other code but those of scripts and recordings.
 */
export function openAiModel(options: OpenAiModelOptions = {}): ChatModel {
  const baseUrl = checkBaseUrl(options.baseUrl ?? OPENAI_URL)
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
  let client: Promise<OpenAI> | undefined

  return {
    async complete(request, { signal, onDelta } = {}) {
      const asked: Asked = {
        url: `${baseUrl.origin}${baseUrl.pathname}/chat/completions`,
        model: request.model,
        hasKey: options.apiKey !== undefined,
      }
      const watch = watchSilence(timeoutMs, signal)
      try {
        client ??= openClient(options.apiKey, baseUrl)
        const answer = await post(await client, request, watch.signal, asked)
        const body = listen(answer.body, watch.heard, asked)
        return await readAnswer(answer, body, { request, onDelta, asked })
      } catch (error) {
        if (signal?.aborted)
          throw new ModelError('ERR_MODEL_ABORTED', 'The request was stopped.', { cause: error })
        throw withoutKey(watch.timedOut ? silent(asked, timeoutMs) : error, options.apiKey)
      } finally {
        watch.stop()
      }
    },
  }
}

function checkBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ModelError(
      'ERR_MODEL_SETTINGS',
      'The base URL is no http or https URL, such as http://localhost:11434/v1.',
    )
  }
  if (url.username !== '' || url.password !== '') {
    const message = `The base URL for ${url.host} holds credentials. Put the key into .env as DELTA_API_KEY instead.`
    throw new ModelError('ERR_MODEL_SETTINGS', message)
  }
  url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}

/** Everything the client would otherwise take from the environment is given here. */
async function openClient(apiKey: string | undefined, baseUrl: URL): Promise<OpenAI> {
  const { OpenAI } = await import('openai').catch((cause: unknown) => {
    const message = 'The package openai is not installed. Install it: npm install openai'
    throw new ModelError('ERR_MODEL_SETTINGS', message, { cause })
  })
  const transport = createTransport()
  const fetch = async (url: string, call: HttpCall) => keepErrorBody(await transport(url, call))

  return new OpenAI({
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: `${baseUrl.origin}${baseUrl.pathname}`,
    defaultQuery: Object.fromEntries(baseUrl.searchParams),
    defaultHeaders: apiKey === undefined ? { Authorization: null } : {},
    maxRetries: 0,
    timeout: 2 ** 31 - 1, // silence is watched here, over the whole answer and not its start alone
    logLevel: 'off',
    fetch: fetch as unknown as typeof globalThis.fetch, // the client uses no more of it than HttpCall and HttpAnswer
  })
}

/** The client reads error bodies itself and drops what is not under `error`; packed like this it keeps all of it. */
function keepErrorBody(answer: HttpAnswer): HttpAnswer {
  if (answer.ok) return answer
  return { ...answer, text: async () => JSON.stringify({ error: { body: await answer.text() } }) }
}

async function post(
  client: OpenAI,
  request: ChatRequest,
  signal: AbortSignal,
  asked: Asked,
): Promise<HttpAnswer> {
  try {
    const options = { body: request, stream: request.stream === true, signal }
    return (await client.post('/chat/completions', options).asResponse()) as unknown as HttpAnswer
  } catch (error) {
    throw failureOf(error, request, asked)
  }
}

function failureOf(error: unknown, request: ChatRequest, asked: Asked): unknown {
  const { status, headers, error: packed, cause } = error as Partial<InstanceType<typeof OpenAI.APIError>>
  if (status === undefined) return connectionError(cause ?? error, asked)

  const body = (packed as { body?: string } | undefined)?.body ?? ''
  const failure = statusError({ status, body, header: (name) => headers?.get(name) }, asked)
  return refusesStreamOptions(failure, body, request) ? withoutStreamOptions(failure, request) : failure
}

function refusesStreamOptions(failure: ModelError, body: string, request: ChatRequest): boolean {
  return (
    failure.code === 'ERR_MODEL_REQUEST' && 'stream_options' in request && body.includes('stream_options')
  )
}

function withoutStreamOptions(failure: ModelError, request: ChatRequest): ModelError {
  const { stream_options: _refused, ...retryWith } = request
  const message = `${failure.message}\nWithout stream_options the same request may succeed; tokens are not counted then.`
  return new ModelError(failure.code, message, {
    status: failure.status,
    retryable: true,
    retryAfterMs: 0,
    retryWith,
  })
}

async function* listen(
  body: AsyncIterable<Uint8Array>,
  heard: () => void,
  asked: Asked,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      heard()
      yield chunk
    }
  } catch (error) {
    throw unreadableBody(error, asked)
  }
}

interface AnswerContext {
  readonly request: ChatRequest
  readonly onDelta: CompleteOptions['onDelta']
  readonly asked: Asked
}

async function readAnswer(
  answer: HttpAnswer,
  body: AsyncIterable<Uint8Array>,
  { request, onDelta, asked }: AnswerContext,
): Promise<ChatResponse> {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
  if (request.stream && isStream) return readStream(readEvents(body), onDelta)

  const text = await readText(body)
  const response = parseCompletion(parseBody(text, asked))
  if (response.message.content) onDelta?.({ content: response.message.content })
  return response
}

function parseBody(text: string, asked: Asked): unknown {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw notJson(text, asked, cause)
  }
  const failure = inlineError((body ?? {}) as Record<string, unknown>)
  if (failure) throw failure
  return body
}

function silent(asked: Asked, timeoutMs: number): ModelError {
  return new ModelError(
    'ERR_MODEL_TIMEOUT',
    `${asked.url} sent nothing for ${timeoutMs} ms. If the model needs longer, raise the time limit.`,
    { retryable: true },
  )
}
