import { inspect } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { type IdleTimer, readAnswer, startIdleTimer } from './answer.js'
import { type ChatModel, LLM_DEFAULTS } from './chat.js'
import { LONGEST_TIMER_MS, ModelError } from './errors.js'
import { type Asked, connectionError, statusError } from './failure.js'
import { beginningOf, post } from './fetch.js'
import { mapStrings } from './response.js'

/** Options of `openAiModel`. */
export interface OpenAiModelOptions {
  /** A local server needs none. The environment is not read. */
  readonly apiKey?: string | undefined
  /** Ends where `/chat/completions` is appended. Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string | undefined
  /** Idle timeout: how long the server may send nothing of an answer, in milliseconds. Default 600000; 0: no limit. */
  readonly timeoutMs?: number | undefined
}

/**
 * A model behind an OpenAI-compatible chat-completions API. The first request loads the package `openai`. The body is
 * `JSON.stringify(request)`. With `stream: true` in the request the answer is read as it arrives. An answer that was cut off is
 * an error. Nothing is retried. The proxies of the environment are used.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS`: the base URL or the key cannot work. `complete` throws every other code, except
 *   those of scripts and recordings.
 *
 * @example
 * const model = openAiModel({ apiKey: process.env.OPENAI_API_KEY })
 * const { message } = await model.complete({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })
 */
export function openAiModel(options: OpenAiModelOptions = {}): ChatModel {
  const baseUrl = checkBaseUrl(options.baseUrl ?? LLM_DEFAULTS.baseUrl)
  const apiKey = checkKey(options.apiKey)
  const timeoutMs = options.timeoutMs ?? LLM_DEFAULTS.timeoutMs

  return {
    async complete(request, { signal, bytes: given, onDelta } = {}) {
      const bytes = given ?? Buffer.from(JSON.stringify(request))
      const url = `${baseUrl.origin}${baseUrl.pathname.replace(/\/$/, '')}/chat/completions`
      const asked = { url, model: request.model, hasKey: apiKey !== undefined }
      const timer = startIdleTimer(timeoutMs, signal)
      const text = keyFilter(apiKey, (content) => onDelta?.({ content }))
      const thoughts = keyFilter(apiKey, (reasoning) => onDelta?.({ reasoning }))
      try {
        const answer = await send(bytes, { baseUrl, apiKey, asked, timer })
        const response = await readAnswer(answer, {
          asked,
          timer,
          onDelta({ content = '', reasoning = '' }) {
            thoughts.push(reasoning)
            text.push(content)
          },
        })
        thoughts.end()
        text.end()
        return withoutKey(response, apiKey)
      } catch (error) {
        const isSilence = timer.hasExpired() && Object(error).status === undefined // an answer with a status says what is wrong
        const failure = signal?.aborted ? stopped(error) : isSilence ? silent(asked, timeoutMs) : error
        throw errorWithoutKey(failure, apiKey)
      } finally {
        timer.stop()
      }
    },
  }
}

interface Sending {
  readonly baseUrl: URL
  readonly apiKey: string | undefined
  readonly asked: Asked
  readonly timer: IdleTimer
}

/** Posts these very bytes. The answer has status 2xx, and its body is still to be read. */
async function send(body: Uint8Array, { baseUrl, apiKey, asked, timer }: Sending): Promise<Response> {
  const { OpenAI } = await import('openai').catch((cause: unknown) => {
    throw unusable('The package openai is not installed. Install it: npm install openai', cause)
  })
  let failure: unknown
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
      'user-agent': `delta-engine/${manifest.version}`,
    },
    maxRetries: 0,
    timeout: LONGEST_TIMER_MS, // the idle timer watches the whole answer, the client's timeout only its start
    logLevel: 'off',
    async fetch(url, init) {
      try {
        if (init?.body !== body) throw new Error('The client changed the body of the request.')
        const { headers, signal } = init as { headers: Headers; signal: AbortSignal }
        const answer = await post(`${url}${baseUrl.search}`, { body, headers, signal })
        if (answer.ok) return answer
        timer.shortenTo(1000)
        const explanation = await beginningOf(answer)
        throw statusError({ status: answer.status, headers: answer.headers, body: explanation }, asked)
      } catch (error) {
        failure = error // the client replaces it by a less specific one
        throw error
      }
    },
  })
  const headers = { 'content-type': 'application/json' }
  return client
    .post('/chat/completions', { body, headers, signal: timer.signal })
    .asResponse()
    .catch((error: unknown) => {
      throw failure instanceof ModelError ? failure : connectionError(failure ?? error, asked)
    })
}

/** @throws {ModelError} `ERR_MODEL_SETTINGS` */
function checkBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw unusable('The base URL is not an http or https URL, such as http://localhost:11434/v1.')
  if (url.username !== '' || url.password !== '')
    throw unusable(
      `The base URL for ${url.host} holds credentials. Put the key into .env as DELTA_API_KEY instead.`,
    )
  url.pathname = url.pathname.replace(/\/+$/, '')
  if (url.pathname.endsWith('/chat/completions'))
    throw unusable(`The base URL for ${url.host} must end before /chat/completions, which is appended.`)
  return url
}

function unusable(message: string, cause?: unknown): ModelError {
  return new ModelError('ERR_MODEL_SETTINGS', message, { cause })
}

function stopped(cause: unknown): ModelError {
  return new ModelError('ERR_MODEL_ABORTED', 'The request was stopped.', { cause })
}

function silent({ url }: Asked, timeoutMs: number): ModelError {
  return new ModelError(
    'ERR_MODEL_TIMEOUT',
    `${url} sent nothing of its answer for ${timeoutMs} ms. If the model needs longer, raise the time limit: timeoutMs (in agent.yaml, llm.timeout_ms).`,
    { retryable: true },
  )
}

// Servers repeat the API key in error messages, and some in answers. Nothing that leaves this package may contain it.

const REDACTED = '[API key]'

/** A shorter key is a placeholder for a local server (`none`, `ollama`), a word that answers may contain. */
const SHORTEST_KEY = 8

/**
 * Refuses a line break in a key here: the HTTP client's own error would show the key.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS`
 */
function checkKey(apiKey: string | undefined): string | undefined {
  if (apiKey === undefined || apiKey === '') return undefined
  if (/^[\x21-\x7e]+$/.test(apiKey)) return apiKey
  throw unusable(
    'The API key contains a space, a line break or another character that cannot be part of a key. Check where it was set.',
  )
}

/** The same error without the key in it. */
function errorWithoutKey(error: unknown, apiKey: string | undefined): unknown {
  if (!isSecret(apiKey) || !(error instanceof ModelError)) return error
  const { code, status, retryable, retryAfterMs, cause } = error
  const lines = error.message.replaceAll(apiKey, REDACTED).split('\n')
  const message = lines.map((line) => withoutBeginning(line, apiKey)).join('\n')
  const isClean = !inspect(cause, { depth: 5 }).includes(apiKey)
  return new ModelError(code, message, { status, retryable, retryAfterMs, ...(isClean && { cause }) })
}

/** A long message was cut, perhaps in the middle of the key. */
function withoutBeginning(line: string, apiKey: string): string {
  const said = line.replace(/…$/, '')
  const beginning = beginningAtEnd(said, apiKey)
  return isSecret(beginning) ? `${said.slice(0, -beginning.length)}${REDACTED}…` : line
}

/** The same JSON value without the key in any string, also where a string holds JSON with the key escaped. */
function withoutKey<Value>(value: Value, apiKey: string | undefined): Value {
  if (!isSecret(apiKey)) return value
  const escaped = JSON.stringify(apiKey).slice(1, -1)
  const forms = [apiKey, escaped, escaped.replaceAll('/', '\\/')]
  return mapStrings(value, (text) =>
    forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text),
  ) as Value
}

/** Redacts the key from a text in pieces. A possible beginning of the key is held back until the next piece. */
function keyFilter(apiKey: string | undefined, onText: (text: string) => void) {
  let held = ''
  return {
    push(text: string) {
      const known = isSecret(apiKey) ? (held + text).replaceAll(apiKey, REDACTED) : text
      held = isSecret(apiKey) ? beginningAtEnd(known, apiKey) : ''
      if (known.length > held.length) onText(known.slice(0, known.length - held.length))
    },
    end() {
      if (held !== '') onText(held)
    },
  }
}

function isSecret(apiKey: string | undefined): apiKey is string {
  return apiKey !== undefined && apiKey.length >= SHORTEST_KEY
}

function beginningAtEnd(text: string, apiKey: string): string {
  for (let length = Math.min(apiKey.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(apiKey.slice(0, length))) return apiKey.slice(0, length)
  }
  return ''
}
