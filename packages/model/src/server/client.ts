import type { OpenAI } from 'openai'
import type { ChatRequest } from '../chat.js'
import { ModelError } from '../errors.js'
import { connectionError } from './connection.js'
import { statusError } from './failure.js'
import type { Asked } from './failure-kind.js'
import { createTransport, type HttpAnswer, type HttpCall } from './transport.js'

/** Everything the client would otherwise take from the environment is given here. */
export async function openClient(apiKey: string | undefined, baseUrl: URL): Promise<OpenAI> {
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

/** With its type named, the client sends a body as it is. */
const JSON_BODY = { 'content-type': 'application/json' }

/** Sends a request. Answers with 2xx come back unread; everything else is thrown as a `ModelError`. */
export async function post(
  client: OpenAI,
  request: ChatRequest,
  { body, signal, asked }: { body: Uint8Array | undefined; signal: AbortSignal; asked: Asked },
): Promise<HttpAnswer> {
  try {
    const sent = body ?? JSON.stringify(request)
    const options = { body: sent, headers: JSON_BODY, stream: request.stream === true, signal }
    return (await client.post('/chat/completions', options).asResponse()) as unknown as HttpAnswer
  } catch (error) {
    throw failureOf(error, request, asked)
  }
}

function failureOf(error: unknown, request: ChatRequest, asked: Asked): unknown {
  if (!(error instanceof Error && 'status' in error)) return error // none of the client's: a request that is no JSON
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
