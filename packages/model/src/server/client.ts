import type { ChatRequest } from '../chat.js'
import { ModelError } from '../errors.js'
import { connectionError } from './connection.js'
import { statusError } from './failure.js'
import type { Asked } from './failure-kind.js'
import type { SilenceWatch } from './silence.js'
import { type HttpAnswer, openTransport, type Send } from './transport.js'

/** Where chat completions are asked for, and what every request says beside its body. */
export interface Endpoint {
  readonly send: Send
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Address and headers as the `openai` client makes them. They are the same for every request of a model, so it is asked once.
 * Everything it would otherwise take from the environment is given here.
 */
export async function openEndpoint(apiKey: string | undefined, baseUrl: URL): Promise<Endpoint> {
  const { OpenAI } = await import('openai').catch((cause: unknown) => {
    const message = 'The package openai is not installed. Install it: npm install openai'
    throw new ModelError('ERR_MODEL_SETTINGS', message, { cause })
  })
  const defaultHeaders = apiKey === undefined ? { Authorization: null } : {}
  Object.defineProperty(OpenAI, 'name', { value: 'OpenAI' }) // told to the server; bundlers shorten it
  const client = new OpenAI({
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: `${baseUrl.origin}${baseUrl.pathname}`,
    defaultHeaders,
    timeout: 2 ** 31 - 1, // told to the server; silence is watched here, over the whole answer and not its start alone
    logLevel: 'off',
    fetch: sendsNothing,
  })
  // biome-ignore lint/complexity/useLiteralKeys: it is private, but no option keeps OPENAI_CUSTOM_HEADERS out of it
  client['_options'].defaultHeaders = defaultHeaders
  const { req, url } = await client.buildRequest({
    method: 'post',
    path: '/chat/completions',
    headers: { 'content-type': 'application/json' },
  })
  const headers = Object.fromEntries(req.headers as Iterable<[string, string]>)
  return { headers, send: await openTransport(`${url}${baseUrl.search}`) }
}

/** With one given, the client does not touch the global `fetch`, which loads a whole HTTP client. */
function sendsNothing(): never {
  throw new Error('The client was asked to send a request.')
}

/**
 * Sends a request. Answers with 2xx come back unread; everything else is thrown as a `ModelError`, which does not wait
 * long for the server's explanation.
 */
export async function post(
  { send, headers }: Endpoint,
  request: ChatRequest,
  { body, watch, asked }: { body: Uint8Array | undefined; watch: SilenceWatch; asked: Asked },
): Promise<HttpAnswer> {
  const sent = body ?? JSON.stringify(request)
  const answer = await send({ headers, body: sent, whenOver: watch.whenOver }).catch((error: unknown) => {
    throw connectionError(error, asked)
  })
  if (answer.ok) return answer

  watch.hurry()
  const {
    status,
    headers: { get: header },
  } = answer
  const said = await answer.text()
  const failure = statusError({ status, body: said, header }, asked)
  throw refusesStreamOptions(failure, said, request) ? withoutStreamOptions(failure, request) : failure
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
