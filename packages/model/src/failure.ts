import type { ModelErrorCode } from './errors.js'
import { ModelError } from './errors.js'
import { LONGEST_OBEYED_MS, parseRetryAfter } from './retry.js'

const LONGEST_COUNTED_DAYS = 30

/** An answer that is not 2xx. */
export interface FailedAnswer {
  readonly status: number
  readonly body: string
  header(name: string): string | null | undefined
}

/** What the advice in a message is made of. */
export interface Asked {
  /** Without credentials and query. */
  readonly url: string
  readonly model: string | undefined
  readonly hasKey: boolean
}

/** The error for an HTTP status, with the server's own words and what to check. */
export function statusError(answer: FailedAnswer, asked: Asked): ModelError {
  const said = serverWords(answer.body)
  const kind = kindOf(answer.status, said.code)
  const isPassing = passes(kind)
  const retryAfterMs = isPassing ? parseRetryAfter((name) => answer.header(name)) : undefined
  const isTooLong = retryAfterMs !== undefined && retryAfterMs > LONGEST_OBEYED_MS
  const advice = isTooLong ? comeBackIn(retryAfterMs) : kind.advice(asked, answer)
  return new ModelError(
    kind.code,
    `${asked.url} ${kind.happened} (${answer.status}): ${said.message}\n${advice}`,
    { status: answer.status, retryable: isPassing && !isTooLong, retryAfterMs },
  )
}

function comeBackIn(ms: number): string {
  return `The server asks to wait ${longTime(ms)}, and at most ${LONGEST_OBEYED_MS / 60_000} minutes are waited here: try again when they have passed.`
}

/** A time that nobody waits for in front of a command. A date far ahead is a server's mistake, or its way of saying no. */
function longTime(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  const hours = Math.ceil(minutes / 60)
  const days = Math.ceil(hours / 24)
  if (minutes < 120) return `${minutes} minutes`
  if (hours < 48) return `${hours} hours`
  return days > LONGEST_COUNTED_DAYS ? `more than ${LONGEST_COUNTED_DAYS} days` : `${days} days`
}

/** The error in a body or event with status 200, as gateways send it: `{"error": {"code": 502, "message": …}}`. */
export function inlineError(body: Readonly<Record<string, unknown>>, asked: Asked): ModelError | undefined {
  const { error } = body
  if (error === undefined || error === null) return undefined
  const { message, code } = serverWords(JSON.stringify(body))
  const status = /^[45]\d\d$/.test(code) ? Number(code) : undefined
  const kind: Kind = status === undefined ? KINDS.server : kindOf(status, code)
  const advice = kind.advice(asked, { status: 200, body: '', header: () => null })
  return new ModelError(kind.code, `${asked.url} answered with an error: ${message}\n${advice}`, {
    status,
    retryable: passes(kind),
  })
}

function passes({ code }: Kind): boolean {
  return code === 'ERR_MODEL_RATE_LIMIT' || code === 'ERR_MODEL_SERVER'
}

/** The error for a body with status 200 that is not JSON. */
export function notJson(body: string, asked: Asked, cause?: unknown): ModelError {
  const explanation = looksLikeHtml(body)
    ? `answered with a web page ("${pageTitle(body)}") where JSON was expected. Check the base URL: it usually ends in /v1; ` +
      'a proxy or login page in between answers like this, too.'
    : body.trim() === ''
      ? 'answered with nothing.'
      : `answered with JSON that is cut off or broken. It ends in: ${body.slice(-80)}`
  return new ModelError('ERR_MODEL_RESPONSE', `${asked.url} ${explanation}`, {
    retryable: true,
    status: 200,
    cause,
  })
}

/** The error for an answer that is JSON but for bytes that are no text: what they stood for is not known. */
export function notUtf8(asked: Asked, cause?: unknown): ModelError {
  const text = `${asked.url} answered with bytes that are no UTF-8 text, so a part of the answer is not known. What came is not used.`
  return new ModelError('ERR_MODEL_RESPONSE', text, { retryable: true, status: 200, cause })
}

interface Kind {
  readonly code: ModelErrorCode
  readonly happened: string
  advice(asked: Asked, answer: FailedAnswer): string
}

function kindOf(status: number, code: string): Kind {
  if (status === 402 || (status === 429 && /insufficient_quota|billing/.test(code))) return KINDS.quota
  if (status === 429) return KINDS.rate
  if (status === 408 || status === 409 || status >= 500) return KINDS.server
  if (status === 401 || status === 403) return KINDS.access
  if (status === 404) return KINDS.missing
  if (code === 'context_length_exceeded') return KINDS.tooLong
  return status >= 300 && status < 400 ? KINDS.moved : KINDS.request
}

const KINDS = {
  quota: {
    code: 'ERR_MODEL_QUOTA',
    happened: 'wants money first',
    advice: () => "Waiting will not help: check the account's plan and balance.",
  },
  rate: {
    code: 'ERR_MODEL_RATE_LIMIT',
    happened: 'has had too many requests',
    advice: () => 'It is worth trying again later.',
  },
  server: {
    code: 'ERR_MODEL_SERVER',
    happened: 'could not answer',
    advice: () => 'The fault is on the other side; it is worth trying again.',
  },
  access: {
    code: 'ERR_MODEL_ACCESS',
    happened: 'refused access',
    advice: ({ hasKey }) =>
      hasKey
        ? 'Check that the API key (DELTA_API_KEY or OPENAI_API_KEY) is valid, belongs to this base URL, and may use this model.'
        : 'No API key is set. Put one into .env or the environment, as DELTA_API_KEY or OPENAI_API_KEY.',
  },
  missing: {
    code: 'ERR_MODEL_NOT_FOUND',
    happened: 'has nothing there',
    advice: ({ model }) =>
      `Check that the server knows the model ${JSON.stringify(model ?? '')}, and that the base URL is right: it usually ends in /v1.`,
  },
  moved: {
    code: 'ERR_MODEL_REQUEST',
    happened: 'answers from somewhere else',
    advice: (_asked, answer) =>
      `Redirects are not followed with a key. If ${answer.header('location') ?? 'the new address'} is right, make it the base URL.`,
  },
  tooLong: {
    code: 'ERR_MODEL_REQUEST',
    happened: 'refused the request',
    advice: () =>
      'The conversation is longer than the model can take: send less of it. In context.yaml, max_iterations of the journal source and total_max_tokens do that.',
  },
  request: {
    code: 'ERR_MODEL_REQUEST',
    happened: 'refused the request',
    advice: () =>
      'Check what it names: parameters are sent exactly as they were set, messages as they were given.',
  },
} satisfies Record<string, Kind>

/** The server's message and code, whatever shape it puts them in. */
function serverWords(body: string): { message: string; code: string } {
  if (looksLikeHtml(body)) return { message: `a web page ("${pageTitle(body)}")`, code: '' }
  const parsed = parseJson(body)
  const first = Array.isArray(parsed) ? parsed[0] : parsed // Gemini puts its error into a list
  if (!isObject(first)) return { message: shorten(body) || '(no explanation)', code: '' }

  const error = isObject(first.error) ? first.error : first
  const message = [error.message, first.error, first.detail].find(
    (text) => typeof text === 'string' && text !== '',
  )
  return {
    message: shorten(typeof message === 'string' ? message : body),
    code: String(error.code ?? error.type ?? ''),
  }
}

function looksLikeHtml(body: string): boolean {
  return /^\s*<(!doctype|html|head|body)/i.test(body)
}

function pageTitle(body: string): string {
  return shorten(/<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim() || body.replace(/<[^>]*>/g, ' ').trim())
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 500 ? `${line.slice(0, 500)}…` : line
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // then its text is all there is to show
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
