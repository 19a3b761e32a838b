import { inspect } from 'node:util'
import { ModelError } from './errors.js'

/** The same error without the key in it: servers repeat keys in their messages. */
export function withoutKey(error: unknown, apiKey: string | undefined): unknown {
  if (!apiKey || !(error instanceof ModelError)) return error
  const causeHoldsKey = inspect(error.cause, { depth: 5 }).includes(apiKey)
  if (!causeHoldsKey && !error.message.includes(apiKey)) return error

  const { code, message, cause, ...details } = error
  return new ModelError(code, message.replaceAll(apiKey, '[API key]'), {
    ...details,
    cause: causeHoldsKey ? undefined : cause,
  })
}
