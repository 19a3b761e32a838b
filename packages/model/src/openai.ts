import manifest from '../package.json' with { type: 'json' }
import { beginningOf, type Exchange, readAnswer } from './answer.js'
import { type ChatModel, type ChatResponse, LLM_DEFAULTS, type ModelDelta } from './chat.js'
import { ModelError } from './errors.js'
import { connectionError, inlineError, notAnEvent, statusError } from './failure.js'
import type { Asked, FailedAnswer } from './failure-kind.js'
import { post } from './fetch.js'
import { checkKey, errorWithoutKey, keyFilter, withoutKey } from './key.js'
import { LONGEST_TIMER_MS, watchSilence } from './silence.js'

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
 * A model behind an OpenAI-compatible chat-completions API, asked by the `openai` package, which is loaded with the first
 * request. Nothing is retried, the body is `JSON.stringify(request)`, and an answer that was cut off is an error, never an
 * answer. With `stream: true` in the request the answer is read as it comes. Proxies of the environment are used.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS` at once for a base URL or key that cannot work. `complete` throws every other
 *   code but those of scripts and recordings.
 */
export function openAiModel(options: OpenAiModelOptions = {}): ChatModel {
  const baseUrl = checkBaseUrl(options.baseUrl ?? LLM_DEFAULTS.baseUrl)
  const apiKey = checkKey(options.apiKey)
  const timeoutMs = options.timeoutMs ?? LLM_DEFAULTS.timeoutMs

  return {
    async complete(request, { signal, body, onDelta } = {}) {
      const bytes = body ?? Buffer.from(JSON.stringify(request))
      const url = `${baseUrl.origin}${baseUrl.pathname.replace(/\/$/, '')}/chat/completions`
      const asked = { url, model: request.model, hasKey: apiKey !== undefined }
      const watch = watchSilence(timeoutMs, signal)
      const text = keyFilter(apiKey, (content) => onDelta?.({ content }))
      const thoughts = keyFilter(apiKey, (reasoning) => onDelta?.({ reasoning }))
      try {
        const hear = ({ content = '', reasoning = '' }: ModelDelta) => {
          thoughts.push(reasoning)
          text.push(content)
        }
        const response = await ask({ asked, watch, onDelta: hear }, { baseUrl, apiKey, bytes })
        thoughts.end()
        text.end()
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

async function ask(
  exchange: Exchange,
  { baseUrl, apiKey, bytes }: { baseUrl: URL; apiKey: string | undefined; bytes: Uint8Array },
): Promise<ChatResponse> {
  const { asked, watch } = exchange
  const sdk = await Promise.all([import('openai'), import('openai/streaming')]).catch((cause: unknown) => {
    const message = 'The package openai is not installed. Install it: npm install openai'
    throw new ModelError('ERR_MODEL_SETTINGS', message, { cause })
  })
  const [{ OpenAI, APIError }, { Stream }] = sdk
  let broken: unknown
  let refused: FailedAnswer | undefined

  const client = new OpenAI({
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: `${baseUrl.origin}${baseUrl.pathname}`,
    defaultHeaders: {
      authorization: apiKey === undefined ? null : `Bearer ${apiKey}`, // before one that the environment names
      accept: 'application/json',
      'user-agent': USER_AGENT,
    },
    maxRetries: 0,
    timeout: LONGEST_TIMER_MS, // silence is watched here, over the whole answer and not its start alone
    logLevel: 'off',
    async fetch(url, init) {
      try {
        if (init?.body !== bytes) throw new Error('The client changed the body of the request.')
        const { headers, signal } = init as { headers: Headers; signal: AbortSignal }
        const answer = await post(`${url}${baseUrl.search}`, { body: bytes, headers, signal })
        if (answer.ok) return answer
        watch.hurry()
        const { status, headers: told } = answer
        refused = { status, body: await beginningOf(answer), header: (name) => told.get(name) }
        return new Response(null, { status, headers: told })
      } catch (error) {
        broken = error // the client may replace it by one that says less
        throw error
      }
    },
  })
  const response = await client
    .post('/chat/completions', {
      body: bytes,
      headers: { 'content-type': 'application/json' },
      signal: watch.controller.signal,
    })
    .asResponse()
    .catch((error: unknown) => {
      throw refused ? statusError(refused, asked) : connectionError(broken ?? error, asked)
    })

  /** The chunks in an event stream. */
  async function* chunks(events: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
    let tail = ''
    async function* remembered(): AsyncGenerator<Uint8Array> {
      const decoder = new TextDecoder()
      for await (const part of events) {
        tail = (tail + decoder.decode(part, { stream: true })).slice(-TAIL_CHARACTERS)
        yield part
      }
    }
    try {
      // a controller of its own: the client aborts it when it has read enough, and the request is ours to end
      yield* Stream.fromSSEResponse<unknown>(new Response(remembered()), new AbortController(), client)
    } catch (error) {
      if (error instanceof APIError) throw inlineError({ error: error.error }, asked)
      if (!(error instanceof SyntaxError)) throw error
      const data = lastThatIsNotJson(tail)
      if (data.trim() !== '[DONE]') throw notAnEvent(data, error)
    }
  }
  return readAnswer(response, exchange, chunks)
}

const USER_AGENT = `delta-engine/${manifest.version}`

/** How much of a stream is remembered, to say which event the client could not read. */
const TAIL_CHARACTERS = 65_536

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The data of the last event that is not JSON; '' if its beginning is forgotten. */
function lastThatIsNotJson(events: string): string {
  const data = events
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((event) =>
      [...event.matchAll(/^data: ?(.*)$/gm)].map(([, line = '']) => line.replace(/\r$/, '')).join('\n'),
    )
  return data.findLast((text) => text !== '' && !isJson(text)) ?? ''
}

/** @throws {ModelError} `ERR_MODEL_SETTINGS` */
function checkBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ModelError(
      'ERR_MODEL_SETTINGS',
      'The base URL is not an http or https URL, such as http://localhost:11434/v1.',
    )
  }
  if (url.username !== '' || url.password !== '') {
    const message = `The base URL for ${url.host} holds credentials. Put the key into .env as DELTA_API_KEY instead.`
    throw new ModelError('ERR_MODEL_SETTINGS', message)
  }
  url.pathname = url.pathname.replace(/\/+$/, '')
  if (url.pathname.endsWith('/chat/completions')) {
    const message = `The base URL for ${url.host} must end before /chat/completions, which is appended.`
    throw new ModelError('ERR_MODEL_SETTINGS', message)
  }
  return url
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
