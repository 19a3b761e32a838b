import {
  isModelError,
  LONGEST_OBEYED_MS,
  ModelError,
  type ModelErrorCode,
  parseRetryAfter,
  waitInWords,
} from './errors.js'
import { checkDepth, type Fields, fieldsOf, isObject, parseJson, unusable } from './response.js'

/** The facts of a request that errors about it need. */
export interface Asked {
  /** Without credentials and query. */
  readonly url: string
  readonly model: string | undefined
  readonly hasKey: boolean
  /** The provider's variable for a key. Undefined for another client, which has its own. */
  readonly keyName?: string | undefined
  /** Replaces the key in a text of the server. Called before the text is cut, which could leave half a key. */
  hide(text: string): string
}

/** An answer with another status than 2xx. */
export interface FailedAnswer {
  readonly status: number
  readonly body: string
  readonly headers: Headers
}

/** The error for an HTTP status, with the server's own words and what to check. */
export function statusError({ status, body, headers }: FailedAnswer, asked: Asked): ModelError {
  const failure = readFailure(asked.hide(body), status, asked.hide(headers.get('location') ?? ''))
  const waitMs = parseRetryAfter((name) => headers.get(name)) ?? waitInWords(body)
  return serverError(failure, asked, waitMs)
}

/**
 * The error in a body or event with status 200: `{"error": {"code": 502, "message": …}}`, also in a choice, as gateways send it,
 * or in the response of a `response.failed`. An `error` event of Responses is the error itself.
 */
export function inlineError(body: Fields, asked: Asked): ModelError | undefined {
  checkDepth(body)
  const ofChoice = fieldsOf(Array.isArray(body.choices) ? body.choices[0] : undefined).error
  const ofResponse = fieldsOf(body.response).error
  const isError = body.object === 'error' || body.type === 'error'
  const error = body.error || ofChoice || ofResponse || (isError ? body : undefined)
  if (!error) return undefined
  const failure = readFailure(asked.hide(JSON.stringify({ error })), undefined)
  return serverError(failure, asked, waitInWords(failure.message))
}

/** @param waitMs - How long the server asks to wait. */
function serverError(failure: Failure, asked: Asked, waitMs: number | undefined): ModelError {
  const { status, message, isInAnswer } = failure
  const { code, happened, advice } = kindOf(failure)
  const mayPass = code === 'ERR_MODEL_RATE_LIMIT' || code === 'ERR_MODEL_SERVER'
  const retryAfterMs = mayPass ? waitMs : undefined
  const isTooLong = retryAfterMs !== undefined && retryAfterMs > LONGEST_OBEYED_MS
  const what = isInAnswer ? 'answered with an error' : `${happened} (${status})`
  const wayOut = isTooLong ? comeBackIn(retryAfterMs) : advice(asked, failure)
  const text = `${asked.url} ${what}: ${message}\n${wayOut}`
  return new ModelError(code, text, { status, retryable: mayPass && !isTooLong, retryAfterMs })
}

/**
 * The error of another client as one of ours, by its `status` or `statusCode`, and `isRetryable`. Undefined for an error without a
 * status: it may be a mistake in a program.
 *
 * @param about - The server, for advice beside what the error says. Without it the error's own words stay.
 */
export function asModelError(
  error: unknown,
  about?: { url: string; model?: string | undefined },
): ModelError | undefined {
  if (isModelError(error)) return error
  const foreign = Object(error) as Fields & { message?: unknown; responseHeaders?: Record<string, string> }
  const status = foreign.statusCode ?? foreign.status
  if (typeof status !== 'number') return undefined
  const url = String(foreign.url ?? about?.url).replace(/\?.*/, '')
  const asked = { url, model: about?.model, hasKey: true, hide: (text: string) => text }
  const body = String(foreign.responseBody ?? foreign.message)
  const known = statusError({ status, body, headers: new Headers(foreign.responseHeaders) }, asked)
  const { code, retryAfterMs, message } = known
  const retryable = typeof foreign.isRetryable === 'boolean' ? foreign.isRetryable : known.retryable
  const details = { status, retryable, retryAfterMs, cause: error }
  return new ModelError(code, about ? message : String(foreign.message), details)
}

function comeBackIn(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  const time = minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`
  return `The server asks to wait ${time}, and at most ${LONGEST_OBEYED_MS / 60_000} minutes are waited here unless llm.retry.max_wait allows it. Try again when that time has passed.`
}

/** What a server says of a failure. */
interface Failure {
  /** Undefined for an error inside an answer whose status its code does not tell. */
  readonly status: number | undefined
  readonly isInAnswer: boolean
  /** Its code and its type, if it sends any. */
  readonly code: string
  /** Its explanation, in one line. */
  readonly message: string
  readonly body: string
  /** Where a redirect leads. */
  readonly location: string
}

/** Finds the code and the explanation in the shapes that servers use. */
function readFailure(body: string, sent: number | undefined, location = ''): Failure {
  const parsed = parseJson(body)
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed // some send a list of one error
  const error = isObject(first) && isObject(first.error) ? first.error : fieldsOf(first)
  const words = [error.code, error.type].filter(Boolean).map(String)
  const status = sent ?? words.map(statusOf).find((found) => found !== undefined)
  const message = explanationOf(body, first, error)
  return { status, isInAnswer: sent === undefined, code: words.join(' '), message, body, location }
}

function explanationOf(body: string, value: unknown, error: Fields): string {
  if (looksLikeHtml(body)) return `a web page ("${pageTitle(body)}")`
  if (!isObject(value)) return shorten(body) || '(no explanation)'
  const said = [error.message, value.error, value.detail].find(
    (text) => typeof text === 'string' && text !== '',
  )
  if (said === undefined) return shorten(body)
  const { raw } = fieldsOf(error.metadata) // what the server behind a gateway said
  const behind = raw ? ` ${typeof raw === 'string' ? raw : JSON.stringify(raw)}` : ''
  return shorten(`${said}${behind}`)
}

/** The status that a code or a type inside an answer stands for: `502`, `rate_limit_error`. */
function statusOf(word: string): number | undefined {
  const [digits] = /^[45]\d\d\b/.exec(word) ?? []
  return digits === undefined ? STATUS[word] : Number(digits)
}

const STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  insufficient_quota: 429,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
}

function looksLikeHtml(body: string): boolean {
  return /^\s*<(!doctype|html|head|body)/i.test(body)
}

function pageTitle(body: string): string {
  return shorten(/<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim() || body.replace(/<[^>]*>/g, ' '))
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 500 ? `${line.slice(0, 500)}…` : line
}

/** What happened, and what a person can do about it. */
interface Kind {
  readonly code: ModelErrorCode
  readonly happened: string
  advice(asked: Asked, failure: Failure): string
}

function kind(code: ModelErrorCode, happened: string, advice: string | Kind['advice']): Kind {
  return { code, happened, advice: typeof advice === 'string' ? () => advice : advice }
}

function refused(advice: string): Kind {
  return kind('ERR_MODEL_REQUEST', 'refused the request', advice)
}

const SERVER_FAULT = kind(
  'ERR_MODEL_SERVER',
  'could not answer',
  'The fault is on the other side; it is worth trying again.',
)

/** The kinds of failure; the first that fits counts. Few servers send a code, and each has other words. */
const KINDS: readonly (readonly [when: (failure: Failure) => boolean, kind: Kind])[] = [
  // the server could not parse the model's output as a tool call or JSON; the next output may differ
  [({ code }) => /(tool_use|output_parse|json_validate)_failed/.test(code), SERVER_FAULT],
  [
    // chat templates of some models, with status 400 or 500
    ({ message }) => /system message must be at the begin/i.test(message),
    refused(
      'This model takes one system message, and each source before the conversation is one. Write merge: true in context.yaml: they are then sent as one message.',
    ),
  ],
  [
    ({ status, code }) => status === 402 || (status === 429 && /insufficient_quota|billing/.test(code)),
    kind(
      'ERR_MODEL_QUOTA',
      'demands payment',
      "Waiting will not help: check the account's plan and balance.",
    ),
  ],
  [
    ({ status }) => status === 429,
    kind('ERR_MODEL_RATE_LIMIT', 'received too many requests', 'It is worth trying again later.'),
  ],
  [
    ({ status, message }) =>
      status === 401 || status === 403 || (status === 400 && /\bAPI key\b/i.test(message)),
    kind('ERR_MODEL_ACCESS', 'refused access', adviceOnKey),
  ],
  [
    // some servers say this of a base URL without /v1, with status 200
    ({ status, message }) => status === 404 || (status === undefined && /unexpected endpoint/i.test(message)),
    kind(
      'ERR_MODEL_NOT_FOUND',
      'was not found',
      ({ model = '' }) =>
        `Check that the server knows the model ${JSON.stringify(model)}, and that the base URL is right: it usually ends in /v1.`,
    ),
  ],
  [({ status = 0 }) => status === 408 || status === 409 || status >= 500, SERVER_FAULT],
  [
    ({ status, code, message }) => status === 413 || CONVERSATION_TOO_LONG.test(`${code} ${message}`),
    kind(
      'ERR_MODEL_TOO_LONG',
      'refused the request',
      'The conversation is longer than the model can take: send less of it. In context.yaml, max_iterations of the journal source and total_max_tokens do that.',
    ),
  ],
  [({ status, code }) => status === undefined && !REFUSED_IN_ANSWER.test(code), SERVER_FAULT],
  [
    ({ status = 400 }) => status < 400,
    kind(
      'ERR_MODEL_REQUEST',
      'redirects elsewhere',
      ({ url }, { location }) =>
        `Redirects are not followed. If ${baseUrlAt(location, url)} is right, make it the base URL.`,
    ),
  ],
  [
    ({ body }) => looksLikeHtml(body),
    refused(
      'A web page is not an answer: check the base URL (http or https, host, port), and whether a proxy stands in between.',
    ),
  ],
  [
    ({ message }) => /encrypted content is not supported/i.test(message),
    refused('This model cannot encrypt its reasoning. Write include: null under llm in agent.yaml.'),
  ],
  [
    ({ message }) => /prompt_cache_breakpoint|cache_control/.test(message),
    refused('It is what prompt_cache in context.yaml is sent as. Remove it there for this server.'),
  ],
  [
    ({ body }) => body.includes('stream_options'),
    refused('It seems that this server cannot stream. Write stream: false under llm in agent.yaml.'),
  ],
]

const CONVERSATION_TOO_LONG =
  /context[ _](length|size|window)|(prompt|input) is too long|(maximum prompt length|input token count)|too many tokens|`inputs`/i

/** Codes without a status with which the same request would be refused again: `invalid_prompt`, `image_too_large`, `bio_policy`. */
const REFUSED_IN_ANSWER = /^invalid_|image|_policy|^data_residency/

const REFUSED = refused(
  'Check what it names: parameters are sent exactly as they were set, messages as they were given.',
)

function kindOf(failure: Failure): Kind {
  return KINDS.find(([when]) => when(failure))?.[1] ?? REFUSED
}

function adviceOnKey({ hasKey, keyName }: Asked): string {
  if (!hasKey)
    return `No API key is set. Put one into .env or the environment, as DELTA_API_KEY or ${keyName}.`
  const names = keyName === undefined ? '' : ` (DELTA_API_KEY or ${keyName})`
  return `Check that the API key${names} is valid, belongs to this base URL, and may use this model.`
}

/** The base URL that a `Location` implies, which may be relative to the request's own address. */
function baseUrlAt(location: string, from: string): string {
  if (!URL.canParse(location, from)) return 'the new address'
  const { origin, pathname } = new URL(location, from)
  return `${origin}${pathname.replace(/\/(chat\/completions|v1\/messages)\/?$/, '')}`
}

/** The error for a request without an answer. */
export function connectionError(error: unknown, { url }: Asked): ModelError {
  const { code, message } = describe(error)
  const isPlain = code === 'EPROTO' && /wrong.version.number/i.test(message)
  const isUntrusted = CERTIFICATE.test(code)
  const advice = isPlain
    ? 'If it is your own, its base URL begins with http://.'
    : isUntrusted
      ? 'The certificate is not trusted here. If it is your own, name its authority in NODE_EXTRA_CA_CERTS.'
      : (ADVICE[code] ?? 'It is worth trying again.')
  const said = isPlain ? 'the server there does not speak TLS.' : message
  return new ModelError('ERR_MODEL_CONNECTION', `${url} could not be reached: ${said}\n${advice}`, {
    retryable: !isPlain && !isUntrusted,
    cause: error,
  })
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'Nothing is listening there. Is the server running, and are the host and port of the base URL right?',
  ENOTFOUND: 'There is no such host. Check the base URL, and that this machine is online.',
  EAI_AGAIN: 'The host name could not be looked up. Check that this machine is online.',
}

/** Where several addresses were tried, Node puts the reasons into `errors` and leaves the message empty. */
function describe(error: unknown): { code: string; message: string } {
  if (error instanceof AggregateError && error.message === '') return describe(error.errors[0])
  const { code = '', message = String(error) } = Object(error) as NodeJS.ErrnoException
  return { code, message: message.includes(code) ? message : `${message} (${code})` }
}

/** @param limit - What it exceeds: `It is longer than 64 MiB.` */
export function tooMuch(limit: string, { url }: Asked): ModelError {
  return unusable(
    `${url} sent too much to be an answer. ${limit} What arrived was discarded.\nCheck the base URL, and whether a proxy stands in between.`,
    { retryable: false },
  )
}

/** The error for an answer that stopped before its end. */
export function unreadableBody(cause: unknown, { url }: Asked): ModelError {
  if (isModelError(cause)) return cause
  const { message } = describe(cause)
  const text = `${url} broke off in the middle of its answer: ${message}\nWhat arrived was discarded.`
  return new ModelError('ERR_MODEL_CONNECTION', text, { retryable: true, cause })
}

/** The error for a body with status 200 that is not JSON. */
export function notJson(text: string, { url, hide }: Asked): ModelError {
  const body = hide(text)
  const explanation = looksLikeHtml(body)
    ? `answered with a web page ("${pageTitle(body)}") where JSON was expected. Check the base URL: it usually ends in /v1; a proxy or login page in between answers like this, too.`
    : body.trim() === ''
      ? 'sent an empty answer.'
      : `answered with JSON that is cut off or broken. It ends in: ${body.slice(-80)}`
  return unusable(`${url} ${explanation}`, { status: 200 })
}

/** The error for an answer with bytes that are not UTF-8. */
export function notUtf8({ url }: Asked, cause: unknown): ModelError {
  const text = `${url} answered with bytes that are not UTF-8, so part of the answer is unknown. What arrived was discarded.`
  return unusable(text, { status: 200, cause })
}

/** The error for an event of a stream that is not JSON. */
export function notAnEvent(data: string, { hide }: Asked): ModelError {
  return unusable(
    `The stream contains an event that is not JSON, so it may be incomplete: ${hide(data).slice(0, 200)}`,
  )
}

/**
 * The error for a stream that ended before its answer did.
 *
 * @param text - What had arrived of it; undefined for nothing.
 * @param missing - What should have come: `no finish_reason and no [DONE]`.
 */
export function cutOff(text: string | undefined, missing: string): ModelError {
  const got = text === undefined ? 'at once' : `after ${text.length} characters of text`
  return unusable(
    `The stream ended ${got}, before the answer did: ${missing} came. What arrived was discarded.`,
  )
}
