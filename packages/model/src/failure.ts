import {
  isModelError,
  LONGEST_OBEYED_MS,
  ModelError,
  type ModelErrorCode,
  parseRetryAfter,
  waitInWords,
} from './errors.js'
import { checkDepth, type Fields, fieldsOf, isObject, parseJson, unusable } from './response.js'

/** The facts of a request that advice on its failure needs. */
export interface Asked {
  /** Without credentials and query. */
  readonly url: string
  readonly model: string | undefined
  readonly hasKey: boolean
  /** The provider's variable for a key. Default `OPENAI_API_KEY`. */
  readonly keyName?: string | undefined
}

/** An answer with another status than 2xx. */
export interface FailedAnswer {
  readonly status: number
  readonly body: string
  readonly headers: Headers
}

/** The error for an HTTP status, with the server's own words and what to check. */
export function statusError(answer: FailedAnswer, asked: Asked): ModelError {
  const { status, body, headers } = answer
  const said = serverWords(body)
  const kind = kindOf(status, said, asked, answer)
  const message = `${asked.url} ${kind.happened} (${status}): ${said.message}`
  const waitMs = parseRetryAfter((name) => headers.get(name)) ?? waitInWords(body)
  return serverError(kind, message, { status, waitMs })
}

/** @param waitMs - How long the server asks to wait. */
function serverError(
  { code, advice }: FailureKind,
  message: string,
  { status, waitMs }: { status: number | undefined; waitMs: number | undefined },
): ModelError {
  const mayPass = code === 'ERR_MODEL_RATE_LIMIT' || code === 'ERR_MODEL_SERVER'
  const retryAfterMs = mayPass ? waitMs : undefined
  const isTooLong = retryAfterMs !== undefined && retryAfterMs > LONGEST_OBEYED_MS
  const text = `${message}\n${isTooLong ? comeBackIn(retryAfterMs) : advice}`
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
  const { status, statusCode = status, responseBody, message, url = about?.url, ...rest } = Object(error)
  if (typeof statusCode !== 'number') return undefined
  const asked = { url: String(url).replace(/\?.*/, ''), model: about?.model, hasKey: true }
  const headers = new Headers(rest.responseHeaders)
  const known = statusError({ status: statusCode, body: String(responseBody ?? message), headers }, asked)
  const { code, retryAfterMs } = known
  const retryable = typeof rest.isRetryable === 'boolean' ? rest.isRetryable : known.retryable
  return new ModelError(code, about ? known.message : String(message), {
    status: statusCode,
    retryable,
    retryAfterMs,
    cause: error,
  })
}

function comeBackIn(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  const time = minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`
  return `The server asks to wait ${time}, and at most ${LONGEST_OBEYED_MS / 60_000} minutes are waited here unless llm.retry.max_wait allows it. Try again when that time has passed.`
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
  const said = serverWords(JSON.stringify({ error }))
  const [digits] = /^[45]\d\d\b/.exec(said.code) ?? []
  const status =
    digits === undefined ? (body.type === 'error' ? STATUS[said.code] : undefined) : Number(digits)
  const message = `${asked.url} answered with an error: ${said.message}`
  return serverError(kindOf(status, said, asked), message, { status, waitMs: waitInWords(said.message) })
}

/** The statuses of Anthropic's errors, which in a stream come as `{"type": "error", "error": {"type": …}}`. */
const STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
}

interface ServerWords {
  readonly message: string
  /** Its code and its type, if any. */
  readonly code: string
}

/** Finds the server's message and code in the shapes that servers use. */
function serverWords(body: string): ServerWords {
  if (looksLikeHtml(body)) return { message: `a web page ("${pageTitle(body)}")`, code: '' }
  const parsed = parseJson(body)
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed // Gemini puts its error into a list
  if (!isObject(first)) return { message: shorten(body) || '(no explanation)', code: '' }

  const error = isObject(first.error) ? first.error : first
  const said = [error.message, first.error, first.detail].find(
    (text) => typeof text === 'string' && text !== '',
  )
  const { raw } = fieldsOf(error.metadata) // what the server behind a gateway said
  const behind = raw ? ` ${typeof raw === 'string' ? raw : JSON.stringify(raw)}` : ''
  return {
    message: shorten(typeof said === 'string' ? `${said}${behind}` : body),
    code: [error.code, error.type].filter(Boolean).join(' '),
  }
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

/** Every server uses other words for it, and few send a code. */
const CONVERSATION_TOO_LONG =
  /context[ _](length|size|window)|(prompt|input) is too long|(maximum prompt length|input token count)|too many tokens|`inputs`/i

/** Chat templates of some models refuse a second system message like this, with status 400 or 500. */
const ONE_SYSTEM_MESSAGE = /system message must be at the begin/i

/** The words of Google and xAI, with status 400. */
const WRONG_KEY = /\bAPI key\b/i

/** With status 400: the server could not parse the model's output as a tool call or JSON. The next output may differ. */
const UNUSABLE_OUTPUT = /(tool_use|output_parse|json_validate)_failed/

/** Codes of an error without a status: `invalid_prompt`, `image_too_large`, `bio_policy`. The same request would get it again. */
const REFUSED_IN_ANSWER = /^invalid_|image|_policy|^data_residency/

/** LM Studio says this of a base URL without /v1, with status 200. */
const NO_SUCH_PATH = /unexpected endpoint/i

/** A kind of failure, and what a person can do about it. */
interface FailureKind {
  readonly code: ModelErrorCode
  readonly happened: string
  readonly advice: string
}

/** @param status - Undefined for an error without one inside an answer. */
function kindOf(
  status: number | undefined,
  { code, message }: ServerWords,
  { url, model, hasKey, keyName = 'OPENAI_API_KEY' }: Asked,
  answer?: FailedAnswer,
): FailureKind {
  if (UNUSABLE_OUTPUT.test(code)) return SERVER_FAULT
  if (ONE_SYSTEM_MESSAGE.test(message))
    return refused(
      'This model takes one system message, and each source before the conversation is one. Write merge: true in context.yaml: they are then sent as one message.',
    )
  const isLimited = status === 429 || (status === undefined && /rate_limit|insufficient_quota/.test(code))
  if (status === 402 || (isLimited && /insufficient_quota|billing/.test(code)))
    return kind(
      'ERR_MODEL_QUOTA',
      'demands payment',
      "Waiting will not help: check the account's plan and balance.",
    )
  if (isLimited)
    return kind('ERR_MODEL_RATE_LIMIT', 'received too many requests', 'It is worth trying again later.')
  if (status === 401 || status === 403 || (status === 400 && WRONG_KEY.test(message)))
    return kind(
      'ERR_MODEL_ACCESS',
      'refused access',
      hasKey
        ? `Check that the API key (DELTA_API_KEY or ${keyName}) is valid, belongs to this base URL, and may use this model.`
        : `No API key is set. Put one into .env or the environment, as DELTA_API_KEY or ${keyName}.`,
    )
  if (status === 404 || (status === undefined && NO_SUCH_PATH.test(message)))
    return kind(
      'ERR_MODEL_NOT_FOUND',
      'was not found',
      `Check that the server knows the model ${JSON.stringify(model ?? '')}, and that the base URL is right: it usually ends in /v1.`,
    )
  const isServerFault = status === 408 || status === 409 || (status ?? 0) >= 500
  if (!isServerFault && (status === 413 || CONVERSATION_TOO_LONG.test(`${code} ${message}`)))
    return kind(
      'ERR_MODEL_TOO_LONG',
      'refused the request',
      'The conversation is longer than the model can take: send less of it. In context.yaml, max_iterations of the journal source and total_max_tokens do that.',
    )
  if (isServerFault || (status === undefined && !REFUSED_IN_ANSWER.test(code))) return SERVER_FAULT
  if (status !== undefined && status < 400) {
    const target = baseUrlAt(answer?.headers.get('location') ?? '', url)
    const advice = `Redirects are not followed. If ${target} is right, make it the base URL.`
    return kind('ERR_MODEL_REQUEST', 'redirects elsewhere', advice)
  }
  if (looksLikeHtml(answer?.body ?? ''))
    return refused(
      'A web page is not an answer: check the base URL (http or https, host, port), and whether a proxy stands in between.',
    )
  if (/encrypted content is not supported/i.test(message))
    return refused('This model cannot encrypt its reasoning. Write include: null under llm in agent.yaml.')
  if (/prompt_cache_breakpoint|cache_control/.test(message))
    return refused('It is what prompt_cache in context.yaml is sent as. Remove it there for this server.')
  if (answer?.body.includes('stream_options'))
    return refused('It seems that this server cannot stream. Write stream: false under llm in agent.yaml.')
  return refused(
    'Check what it names: parameters are sent exactly as they were set, messages as they were given.',
  )
}

function kind(code: ModelErrorCode, happened: string, advice: string): FailureKind {
  return { code, happened, advice }
}

const SERVER_FAULT = kind(
  'ERR_MODEL_SERVER',
  'could not answer',
  'The fault is on the other side; it is worth trying again.',
)

function refused(advice: string): FailureKind {
  return kind('ERR_MODEL_REQUEST', 'refused the request', advice)
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
export function notJson(body: string, { url }: Asked): ModelError {
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
export function notAnEvent(data: string): ModelError {
  return unusable(
    `The stream contains an event that is not JSON, so it may be incomplete: ${data.slice(0, 200)}`,
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
