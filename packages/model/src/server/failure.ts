import { ModelError } from '../errors.js'
import { isObject } from '../is-object.js'
import { type Asked, type FailedAnswer, isTransient, kindOf } from './failure-kind.js'
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
  return `The server asks to wait ${longTime(ms)}, and at most ${LONGEST_OBEYED_MS / 60_000} minutes are waited here. Try again when that time has passed.`
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
