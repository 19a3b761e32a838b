import { ModelError } from '../errors.js'
import { isTooLong } from './answer-body.js'
import type { Asked } from './failure-kind.js'

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
  if (isTooLong(error)) return endless(error as Error, asked)
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
