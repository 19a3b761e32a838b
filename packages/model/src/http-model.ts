import { inspect } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { type IdleTimer, readAnswer, startIdleTimer } from './answer.js'
import type { Api, ChatModel } from './chat.js'
import { LLM_DEFAULTS } from './chat.js'
import { LONGEST_TIMER_MS, ModelError } from './errors.js'
import { type Asked, connectionError, statusError } from './failure.js'
import { beginningOf, post } from './fetch.js'
import { mapStrings } from './response.js'
import { FORMATS, toWire } from './wire.js'

/** Options of a model behind a server. */
export interface HttpModelOptions {
  /** A local server needs none. The environment is not read. */
  readonly apiKey?: string | undefined
  /** What the API's paths are appended to. */
  readonly baseUrl?: string | undefined
  /** Idle timeout: how long the server may send nothing of an answer, in milliseconds. Default 600000; 0: no limit. */
  readonly timeoutMs?: number | undefined
  /** Further headers of each request. Never a key: `apiKey` is where that belongs. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The API's name of the model, for requests that name none. */
  readonly model?: string | undefined
  /** Sent with each request that does not set them, such as `max_tokens`, `reasoning` or `stream`. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined
  /** The variable that holds the key, for advice on errors. */
  readonly keyName?: string | undefined
}

/** What makes one vendor's server different. */
export interface Vendor {
  readonly api: Api
  readonly baseUrl: string
  /** The variable that holds a key for this vendor. */
  readonly keyName: string
  /** Loads the vendor's package. Rejects with `ERR_MODEL_SETTINGS` if it is not installed. */
  load(): Promise<unknown>
  /** Loads the vendor's package, and makes a client of it. */
  connect(options: ClientOptions): Promise<Client>
  /** Headers of this API. Set here, because the clients also add headers that the environment names. Null: never sent. */
  readonly headers: Readonly<Record<string, string | null>>
}

/** The options that both vendors' clients have under the same names. */
export interface ClientOptions {
  readonly apiKey: string | undefined
  readonly baseURL: string
  readonly defaultHeaders: Record<string, string | null>
  readonly maxRetries: 0
  readonly timeout: number
  readonly logLevel: 'off'
  readonly fetch: (url: string | URL | Request, init?: RequestInit) => Promise<Response>
}

/** The part of a vendor's client that is used. */
export interface Client {
  post(path: string, options: object): { asResponse(): Promise<Response> }
}

/** A model behind a server. Sends the recorded bytes by the vendor's own client, over a fetch that changes nothing. */
export function httpModel(vendor: Vendor, options: HttpModelOptions): ChatModel {
  const { api } = vendor
  const { path } = FORMATS[api]
  const baseUrl = checkBaseUrl(options.baseUrl ?? vendor.baseUrl, path)
  const apiKey = checkKey(options.apiKey)
  const { timeoutMs = LLM_DEFAULTS.timeoutMs, headers = {}, keyName = vendor.keyName } = options
  checkHeaders(headers)
  const defaults = { ...(options.model !== undefined && { model: options.model }), ...options.parameters }
  const url = `${baseUrl.origin}${baseUrl.pathname.replace(/\/$/, '')}${path}`
  const own = Object.keys(vendor.headers).filter((name) => vendor.headers[name] !== null)
  const names = ['accept', 'content-type', 'user-agent', ...Object.keys(headers), ...own]
  const headerNames = [...new Set(apiKey === undefined ? names : [...names, 'authorization'])].sort()
  const connection = connectionOf(vendor, { baseUrl, apiKey, headers })

  return {
    async load() {
      await vendor.load()
    },

    toWire: (request, blobs) => ({ ...toWire(api, { ...defaults, ...request }, blobs), url, headerNames }),

    async complete(asking, { signal, bytes: given, blobs, onDelta } = {}) {
      const request = { ...defaults, ...asking }
      const bytes = given ?? Buffer.from(JSON.stringify(toWire(api, request, blobs).body))
      const asked = { url, model: request.model, hasKey: apiKey !== undefined, keyName }
      const timer = startIdleTimer(timeoutMs, signal)
      const text = keyFilter(apiKey, (content) => onDelta?.({ content }))
      const thoughts = keyFilter(apiKey, (reasoning) => onDelta?.({ reasoning }))
      try {
        const answer = await send(bytes, { connection, vendor, baseUrl, headers, asked, timer })
        const response = await readAnswer(answer, {
          asked,
          timer,
          format: FORMATS[api],
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

type Post = (url: string | URL | Request, init: RequestInit) => Promise<Response>

/** The vendor's client, made for the first request, and what its fetch does with the body of each request that is under way. */
interface Connection {
  client(): Promise<Client>
  readonly posts: Map<unknown, Post>
}

function connectionOf(
  vendor: Vendor,
  { baseUrl, apiKey, headers }: Pick<Sending, 'baseUrl' | 'headers'> & { apiKey: string | undefined },
): Connection {
  const posts: Connection['posts'] = new Map()
  let client: Promise<Client> | undefined
  const connect = () =>
    vendor.connect({
      apiKey,
      baseURL: `${baseUrl.origin}${baseUrl.pathname}`,
      defaultHeaders: {
        authorization: apiKey === undefined ? null : `Bearer ${apiKey}`, // before one that the environment names
        accept: 'application/json',
        'user-agent': `delta-engine/${manifest.version}`,
        ...vendor.headers,
        ...headers,
      },
      maxRetries: 0,
      timeout: LONGEST_TIMER_MS, // the idle timer watches the whole answer, the client's timeout only its start
      logLevel: 'off',
      async fetch(url, init = {}) {
        const post = posts.get(init.body)
        if (!post) throw new Error('The client changed the body of the request.')
        return post(url, init)
      },
    })
  return {
    posts,
    async client() {
      client ??= connect()
      try {
        return await client
      } catch (error) {
        client = undefined // the package could not be loaded
        throw error
      }
    },
  }
}

interface Sending {
  readonly connection: Connection
  readonly vendor: Vendor
  readonly baseUrl: URL
  readonly headers: Readonly<Record<string, string>>
  readonly asked: Asked
  readonly timer: IdleTimer
}

/** Posts these very bytes. The answer has status 2xx, and its body is still to be read. */
async function send(given: Uint8Array, sending: Sending): Promise<Response> {
  const { connection, vendor, baseUrl, headers, asked, timer } = sending
  const { posts } = connection
  const body = posts.has(given) ? given.slice() : given // bodies tell requests apart
  let failure: unknown
  posts.set(body, async (url, init) => {
    try {
      const { headers: own, signal } = init as { headers: Headers; signal: AbortSignal }
      const allowed = Object.keys(headers)
      const answer = await post(`${url}${baseUrl.search}`, { body, headers: own, signal, allowed })
      if (answer.ok) return answer
      timer.shortenTo(1000)
      const { status, headers: received } = answer
      throw statusError({ status, headers: received, body: await beginningOf(answer) }, asked)
    } catch (error) {
      failure = error // the client replaces it by a less specific one
      throw error
    }
  })
  try {
    const client = await connection.client()
    const request = { body, headers: { 'content-type': 'application/json' }, signal: timer.signal }
    return await client
      .post(FORMATS[vendor.api].path, request)
      .asResponse()
      .catch((error: unknown) => {
        throw failure instanceof ModelError ? failure : connectionError(failure ?? error, asked)
      })
  } finally {
    posts.delete(body)
  }
}

/** @throws {ModelError} `ERR_MODEL_SETTINGS` */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const name = Object.keys(headers).find((each) => /^(authorization|x-api-key|cookie)$/i.test(each))
  if (name !== undefined) throw unusable(`headers.${name}: a key is given as apiKey.`)
}

/** @throws {ModelError} `ERR_MODEL_SETTINGS` */
function checkBaseUrl(text: string, path: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw unusable('The base URL is not an http or https URL, such as http://localhost:11434/v1.')
  if (url.username !== '' || url.password !== '')
    throw unusable(
      `The base URL for ${url.host} holds credentials. Put the key into .env as DELTA_API_KEY instead.`,
    )
  url.pathname = url.pathname.replace(/\/+$/, '')
  if (url.pathname.endsWith(path))
    throw unusable(`The base URL for ${url.host} must end before ${path}, which is appended.`)
  return url
}

/** The error for settings that cannot work. */
export function unusable(message: string, cause?: unknown): ModelError {
  return new ModelError('ERR_MODEL_SETTINGS', message, { cause })
}

export function notInstalled(name: string, cause: unknown): ModelError {
  return unusable(`The package ${name} is not installed. Install it: npm install ${name}`, cause)
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
