import manifest from '../package.json' with { type: 'json' }
import { type IdleTimer, readAnswer, startIdleTimer } from './answer.js'
import type { Api, ChatModel, ChatRequest, ModelDelta } from './chat.js'
import { LLM_DEFAULTS } from './chat.js'
import { LONGEST_TIMER_MS, ModelError } from './errors.js'
import { type Asked, connectionError, statusError } from './failure.js'
import { beginningOf, post } from './fetch.js'
import { charge } from './response.js'
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
  /** The headers of this API. */
  readonly headers: Readonly<Record<string, string>>
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
  const format = FORMATS[api]
  const { model, parameters, timeoutMs = LLM_DEFAULTS.timeoutMs, keyName = vendor.keyName } = options
  const server = serverFor(vendor, options)
  const { apiKey, url, headerNames } = server
  const hide = hiderOf(apiKey)
  const withDefaults = (request: ChatRequest): ChatRequest => {
    return { ...(model !== undefined && { model }), ...parameters, ...request }
  }

  return {
    async load() {
      await vendor.load()
    },

    toWire: (request, blobs) => ({ ...toWire(api, withDefaults(request), blobs), url, headerNames }),

    async complete(asking, { signal, bytes, blobs, onDelta } = {}) {
      const request = withDefaults(asking)
      const body = bytes ?? Buffer.from(JSON.stringify(toWire(api, request, blobs).body))
      const asked = { url: hide(url), model: request.model, hasKey: apiKey !== undefined, keyName, hide }
      const timer = startIdleTimer(timeoutMs, signal)
      const hear = hidePieces(apiKey, (delta) => onDelta?.(delta))
      try {
        const answer = await send(body, { vendor, server, asked, timer })
        const response = await readAnswer(answer, { asked, timer, format, onDelta: hear })
        hear({}, true)
        return response
      } catch (error) {
        if (signal?.aborted) throw charge(stopped(error), error)
        const isSilence = timer.hasExpired() && Object(error).status === undefined // an answer with a status says what is wrong
        throw isSilence ? charge(silent(asked, timeoutMs), error) : error
      } finally {
        timer.stop()
      }
    },
  }
}

/** A server, with what is sent to it beside the body. */
interface Server {
  readonly apiKey: string | undefined
  readonly baseUrl: URL
  /** The whole address, without query. */
  readonly url: string
  /** The headers of the API, and those of the caller. */
  readonly headers: Readonly<Record<string, string>>
  /** The names of all headers but those with which the client describes itself. */
  readonly headerNames: string[]
}

/** @throws {ModelError} `ERR_MODEL_SETTINGS`: the base URL, the key or a header cannot work. */
function serverFor(vendor: Vendor, options: HttpModelOptions): Server {
  const { path } = FORMATS[vendor.api]
  const baseUrl = checkBaseUrl(options.baseUrl ?? vendor.baseUrl, path)
  const apiKey = checkKey(options.apiKey)
  checkHeaders(options.headers)
  const headers = { ...vendor.headers, ...options.headers }
  const names = ['accept', 'content-type', 'user-agent', ...Object.keys(headers)]
  return {
    apiKey,
    baseUrl,
    url: `${baseUrl.origin}${baseUrl.pathname.replace(/\/$/, '')}${path}`,
    headers,
    headerNames: [...new Set(apiKey === undefined ? names : [...names, 'authorization'])].sort(),
  }
}

interface Sending {
  readonly vendor: Vendor
  readonly server: Server
  readonly asked: Asked
  readonly timer: IdleTimer
}

/** Posts these very bytes. The answer has status 2xx, and its body is still to be read. */
async function send(body: Uint8Array, { vendor, server, asked, timer }: Sending): Promise<Response> {
  let failure: unknown // the client replaces it by a less specific one
  const client = await vendor.connect(
    clientOptions(server, async (url, init) => {
      try {
        return await succeeded(await postTo(server, { url, init, body }))
      } catch (error) {
        failure = error
        throw error
      }
    }),
  )

  async function succeeded(answer: Response): Promise<Response> {
    if (answer.ok) return answer
    timer.shortenTo(1000)
    const { status, headers } = answer
    throw statusError({ status, headers, body: await beginningOf(answer) }, asked)
  }

  try {
    const request = { body, headers: { 'content-type': 'application/json' }, signal: timer.signal }
    return await client.post(FORMATS[vendor.api].path, request).asResponse()
  } catch (error) {
    throw failure instanceof ModelError ? failure : connectionError(failure ?? error, asked)
  }
}

function clientOptions({ apiKey, baseUrl, headers }: Server, fetch: ClientOptions['fetch']): ClientOptions {
  return {
    apiKey,
    baseURL: `${baseUrl.origin}${baseUrl.pathname}`,
    defaultHeaders: {
      authorization: apiKey === undefined ? null : `Bearer ${apiKey}`, // before one that the environment names
      accept: 'application/json',
      'user-agent': `delta-engine/${manifest.version}`,
      ...headers,
    },
    maxRetries: 0,
    timeout: LONGEST_TIMER_MS, // the idle timer watches the whole answer, the client's timeout only its start
    logLevel: 'off',
    fetch,
  }
}

/** Posts what a client hands to its fetch, but for the body: that is ours. */
function postTo(
  { baseUrl, headers }: Server,
  { url, init, body }: { url: string | URL | Request; init: RequestInit | undefined; body: Uint8Array },
): Promise<Response> {
  const made = init as { headers: Headers; signal: AbortSignal }
  return post(`${url}${baseUrl.search}`, { ...made, body, allowed: Object.keys(headers) })
}

/** @throws {ModelError} `ERR_MODEL_SETTINGS` */
function checkHeaders(headers: HttpModelOptions['headers'] = {}): void {
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

/** A shorter key is a placeholder for a local server (`none`, `ollama`), a word that answers may contain. */
const SHORTEST_KEY = 8

/**
 * Returns what replaces the key in a text, plain or as JSON spells it: servers repeat it in error messages, and some in answers.
 * Nothing that leaves this package may hold it.
 */
function hiderOf(key = ''): (text: string) => string {
  if (key.length < SHORTEST_KEY) return (text) => text
  const escaped = JSON.stringify(key).slice(1, -1)
  const forms = [key, escaped, escaped.replaceAll('/', '\\/')]
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, '[API key]'), text)
}

/** Hides the key in texts that come in pieces. What may be its beginning waits for the next piece. */
function hidePieces(key: string | undefined, onDelta: (delta: ModelDelta) => void) {
  const hide = hiderOf(key)
  const held = { reasoning: '', content: '' }
  return (delta: ModelDelta, isLast = false): void => {
    for (const field of ['reasoning', 'content'] as const) {
      const text = hide(held[field] + (delta[field] ?? ''))
      const settled = isLast ? text.length : text.length - beginningAtEnd(text, key)
      held[field] = text.slice(settled)
      if (settled > 0) onDelta({ [field]: text.slice(0, settled) })
    }
  }
}

/** How many characters at the end of a text are the beginning of the key. */
function beginningAtEnd(text: string, key = ''): number {
  let length = key.length < SHORTEST_KEY ? 0 : key.length - 1
  while (!text.endsWith(key.slice(0, length))) length--
  return length
}
