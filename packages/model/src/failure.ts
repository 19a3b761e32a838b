import { ModelError } from './errors.js'
import { type Asked, type FailedAnswer, isTransient, kindOf } from './failure-kind.js'
import { TOO_LONG } from './fetch.js'
import { isObject } from './json.js'
import { LONGEST_OBEYED_MS, parseRetryAfter, waitInWords } from './retry.js'
import { looksLikeHtml, pageTitle, serverWords } from './server-words.js'

const LONGEST_COUNTED_DAYS = 30

/** The error for an HTTP status, with the server's own words and what to check. */
export function statusError(answer: FailedAnswer, asked: Asked): ModelError {
  const said = serverWords(answer.body)
  const kind = kindOf(answer.status, said)
  const mayPass = isTransient(kind)
  const asksFor = parseRetryAfter((name) => answer.header(name)) ?? waitInWords(answer.body)
  const retryAfterMs = mayPass ? asksFor : undefined
  const isTooLong = retryAfterMs !== undefined && retryAfterMs > LONGEST_OBEYED_MS
  const advice = isTooLong ? comeBackIn(retryAfterMs) : kind.advice(asked, answer)
  return new ModelError(
    kind.code,
    `${asked.url} ${kind.happened} (${answer.status}): ${said.message}\n${advice}`,
    { status: answer.status, retryable: mayPass && !isTooLong, retryAfterMs },
  )
}

function comeBackIn(ms: number): string {
  return `The server asks to wait ${longTime(ms)}, and at most ${LONGEST_OBEYED_MS / 60_000} minutes are waited here unless llm.retry.max_wait allows it. Try again when that time has passed.`
}

/** A time longer than anybody waits at a command. A date far ahead is a server's mistake, or its way of refusing. */
function longTime(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  const hours = Math.ceil(minutes / 60)
  const days = Math.ceil(hours / 24)
  if (minutes < 120) return `${minutes} minutes`
  if (hours < 48) return `${hours} hours`
  return days > LONGEST_COUNTED_DAYS ? `more than ${LONGEST_COUNTED_DAYS} days` : `${days} days`
}

/** The error in a body or event with status 200, as gateways send it: `{"error": {"code": 502, "message": …}}`, also of a choice. */
export function inlineError(body: Readonly<Record<string, unknown>>, asked: Asked): ModelError | undefined {
  const error = body.error || errorOfChoice(body) || (body.object === 'error' ? body : undefined)
  if (!error) return undefined
  const said = serverWords(JSON.stringify({ error }))
  const [told] = /^[45]\d\d\b/.exec(said.code) ?? []
  const status = told === undefined ? undefined : Number(told)
  const kind = kindOf(status, said)
  const advice = kind.advice(asked, { status: 200, body: '', header: () => null })
  return new ModelError(kind.code, `${asked.url} answered with an error: ${said.message}\n${advice}`, {
    status,
    retryable: isTransient(kind),
  })
}

function errorOfChoice({ choices }: Readonly<Record<string, unknown>>): unknown {
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isObject(choice) ? choice.error : undefined
}

/** The error for a body with status 200 that is not JSON. */
export function notJson(body: string, asked: Asked, cause?: unknown): ModelError {
  const explanation = looksLikeHtml(body)
    ? `answered with a web page ("${pageTitle(body)}") where JSON was expected. Check the base URL: it usually ends in /v1; ` +
      'a proxy or login page in between answers like this, too.'
    : body.trim() === ''
      ? 'sent an empty answer.'
      : `answered with JSON that is cut off or broken. It ends in: ${body.slice(-80)}`
  return new ModelError('ERR_MODEL_RESPONSE', `${asked.url} ${explanation}`, {
    retryable: true,
    status: 200,
    cause,
  })
}

/** The error for an answer with bytes that are not UTF-8: what they stood for is unknown. */
export function notUtf8(asked: Asked, cause?: unknown): ModelError {
  const text = `${asked.url} answered with bytes that are not UTF-8, so part of the answer is unknown. What arrived was discarded.`
  return new ModelError('ERR_MODEL_RESPONSE', text, { retryable: true, status: 200, cause })
}

/** The error for a request that got no answer. */
export function connectionError(error: unknown, asked: Asked): ModelError {
  const { code = '', message } = describe(error)
  if (code === 'EPROTO' && /wrong.version.number/i.test(message)) return noTls(asked, error)
  const certificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)
  const advice = certificate
    ? 'The certificate is not trusted here. If it is your own, name its authority in NODE_EXTRA_CA_CERTS.'
    : (ADVICE[code] ?? 'It is worth trying again.')
  return new ModelError('ERR_MODEL_CONNECTION', `${asked.url} could not be reached: ${message}\n${advice}`, {
    retryable: !certificate,
    cause: error,
  })
}

/** The TLS library's own message about a server without TLS helps nobody else. */
function noTls({ url }: Asked, cause: unknown): ModelError {
  const text = `${url} could not be reached: the server there does not speak TLS.\nIf it is your own, its base URL begins with http://.`
  return new ModelError('ERR_MODEL_CONNECTION', text, { cause })
}

/** The error for an answer that stopped before its end. */
export function unreadableBody(error: unknown, asked: Asked): ModelError {
  if (Object(error).code === TOO_LONG) return endless(error as Error, asked)
  const text = `${asked.url} broke off in the middle of its answer: ${describe(error).message}\nWhat arrived was discarded.`
  return new ModelError('ERR_MODEL_CONNECTION', text, { retryable: true, cause: error })
}

function endless(error: Error, { url }: Asked): ModelError {
  const text = `${url} sent too much to be an answer. ${error.message} What arrived was discarded.\nCheck that the base URL is that of a chat-completions API, and whether a proxy stands in between.`
  return new ModelError('ERR_MODEL_RESPONSE', text, { cause: error })
}

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'Nothing is listening there. Is the server running, and are the host and port of the base URL right?',
  ENOTFOUND: 'There is no such host. Check the base URL, and that this machine is online.',
  EAI_AGAIN: 'The host name could not be looked up. Check that this machine is online.',
  ECONNRESET: 'The server closed the connection without an answer. It is worth trying again.',
}

/** Where several addresses were tried, Node puts the reasons into `errors` and leaves the message empty. */
function describe(error: unknown): { code?: string; message: string } {
  if (error instanceof AggregateError && error.message === '') return describe(error.errors[0])
  if (!(error instanceof Error)) return { message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const mentioned = code === undefined || error.message.includes(code)
  return { ...(code ? { code } : {}), message: mentioned ? error.message : `${error.message} (${code})` }
}

/** The error for an event of a stream that is not JSON. */
export function notAnEvent(data: string, cause: unknown): ModelError {
  const message = `The stream contains an event that is not JSON, so it may be incomplete: ${data.slice(0, 200)}`
  return new ModelError('ERR_MODEL_RESPONSE', message, { retryable: true, cause })
}

/** The error for a stream without a finish_reason and without `[DONE]`. */
export function cutOff(text: string | undefined, done: boolean): ModelError {
  const got = text === undefined ? 'at once' : `after ${text.length} characters of text`
  const missing = done ? 'no message' : 'no finish_reason and no [DONE]'
  return new ModelError(
    'ERR_MODEL_RESPONSE',
    `The stream ended ${got}, before the answer did: ${missing} came. What arrived was discarded.`,
    { retryable: true },
  )
}
