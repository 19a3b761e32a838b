import type { ModelErrorCode } from './errors.js'
import { looksLikeHtml, type ServerWords } from './server-words.js'

/** An answer that is not 2xx. */
export interface FailedAnswer {
  readonly status: number
  readonly body: string
  header(name: string): string | null | undefined
}

/** What was asked, as far as advice on a failure needs it. */
export interface Asked {
  /** Without credentials and query. */
  readonly url: string
  readonly model: string | undefined
  readonly hasKey: boolean
}

/** One way to fail: what happened, and what a person can do about it. */
export interface FailureKind {
  readonly code: ModelErrorCode
  readonly happened: string
  advice(asked: Asked, answer: FailedAnswer): string
}

/** @param status - Undefined for an error inside an answer that gives no status. */
export function kindOf(status: number | undefined, { code, message }: ServerWords): FailureKind {
  const words = `${code} ${message}`
  if (UNUSABLE.test(code)) return KINDS.unusable
  if (ONE_SYSTEM_MESSAGE.test(message)) return KINDS.oneSystemMessage
  if (status === undefined) return kindByWords(words)
  if (status === 402 || (status === 429 && /insufficient_quota|billing/.test(code))) return KINDS.quota
  if (status === 429) return KINDS.rate
  if (status === 408 || status === 409 || status >= 500) return KINDS.server
  if (status === 401 || status === 403 || (status === 400 && WRONG_KEY.test(message))) return KINDS.access
  if (status === 404) return KINDS.missing
  if (status === 413 || TOO_LONG.test(words)) return KINDS.tooLong
  return status >= 300 && status < 400 ? KINDS.moved : KINDS.request
}

function kindByWords(words: string): FailureKind {
  if (TOO_LONG.test(words)) return KINDS.tooLong
  return NO_SUCH_PATH.test(words) ? KINDS.missing : KINDS.server
}

/** Hardly two servers use the same words, and few send a code. */
const TOO_LONG =
  /context[ _](length|size|window)|(prompt|input) is too long|(maximum prompt length|input token count)|too many tokens|`inputs`/i

/** How the chat templates of some models refuse a second system message, with status 400 or 500. */
const ONE_SYSTEM_MESSAGE = /system message must be at the begin/i

/** The words of Google and xAI, with status 400. */
const WRONG_KEY = /\bAPI key\b/i

/** The server could not parse the model's output as a call or as JSON; the next output may be different. */
const UNUSABLE = /(tool_use|output_parse|json_validate)_failed/

/** Some server says this with status 200. */
const NO_SUCH_PATH = /unexpected endpoint/i

const KINDS = {
  quota: {
    code: 'ERR_MODEL_QUOTA',
    happened: 'demands payment',
    advice: () => "Waiting will not help: check the account's plan and balance.",
  },
  rate: {
    code: 'ERR_MODEL_RATE_LIMIT',
    happened: 'received too many requests',
    advice: () => 'It is worth trying again later.',
  },
  server: {
    code: 'ERR_MODEL_SERVER',
    happened: 'could not answer',
    advice: () => 'The fault is on the other side; it is worth trying again.',
  },
  unusable: {
    code: 'ERR_MODEL_SERVER',
    happened: 'could not use what the model wrote',
    advice: () =>
      'It is worth trying again. If that does not help, use another model, or tools with simpler parameters.',
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
    happened: 'was not found',
    advice: ({ model }) =>
      `Check that the server knows the model ${JSON.stringify(model ?? '')}, and that the base URL is right: it usually ends in /v1.`,
  },
  moved: {
    code: 'ERR_MODEL_REQUEST',
    happened: 'redirects elsewhere',
    advice: ({ url }, answer) =>
      `Redirects are not followed. If ${baseUrlAt(answer.header('location'), url)} is right, make it the base URL.`,
  },
  tooLong: {
    code: 'ERR_MODEL_TOO_LONG',
    happened: 'refused the request',
    advice: () =>
      'The conversation is longer than the model can take: send less of it. In context.yaml, max_iterations of the journal source and total_max_tokens do that.',
  },
  oneSystemMessage: {
    code: 'ERR_MODEL_REQUEST',
    happened: 'refused the request',
    advice: () =>
      'This model takes one system message, and each source before the conversation is one. Write merge: true in context.yaml: they are then sent as one message.',
  },
  request: {
    code: 'ERR_MODEL_REQUEST',
    happened: 'refused the request',
    advice: (_, { body }) =>
      looksLikeHtml(body)
        ? 'A web page is not an answer: check the base URL (http or https, host, port), and whether a proxy stands in between.'
        : body.includes('stream_options')
          ? 'It seems that this server cannot stream. Write stream: false under llm in agent.yaml.'
          : 'Check what it names: parameters are sent exactly as they were set, messages as they were given.',
  },
} satisfies Record<string, FailureKind>

/** The base URL that a `Location` implies, which may be relative to the request's own address. */
function baseUrlAt(location: string | null | undefined, from: string): string {
  if (!location) return 'the new address'
  if (!URL.canParse(location, from)) return location
  const { origin, pathname } = new URL(location, from)
  return `${origin}${pathname.replace(/\/chat\/completions\/?$/, '')}`
}

/** True for a failure that may pass: the next attempt may succeed. */
export function isTransient({ code }: FailureKind): boolean {
  return code === 'ERR_MODEL_RATE_LIMIT' || code === 'ERR_MODEL_SERVER'
}
