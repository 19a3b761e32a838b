import { inspect } from 'node:util'
import { ModelError } from './errors.js'
import { mapTexts, someText } from './json.js'

/*
 * Servers repeat the API key in error messages, and some in answers. Nothing that leaves this package may contain it.
 */

const REDACTED = '[API key]'

/** A shorter key is a placeholder for a local server (`none`, `ollama`): a word that answers may well contain. */
const SHORTEST_KEY = 8

/**
 * Refuses a line break in a key here: the HTTP client's own error would show the key.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS`
 */
export function checkKey(apiKey: string | undefined): string | undefined {
  if (apiKey === undefined || apiKey === '') return undefined
  if (/^[\x21-\x7e]+$/.test(apiKey)) return apiKey
  const message =
    'The API key contains a space, a line break or another character that cannot be part of a key. Check where it was set.'
  throw new ModelError('ERR_MODEL_SETTINGS', message)
}

/** The same error without the key in it. */
export function errorWithoutKey(error: unknown, apiKey: string | undefined): unknown {
  if (!isSecret(apiKey) || !(error instanceof ModelError)) return error
  const causeHoldsKey = inspect(error.cause, { depth: 5 }).includes(apiKey)
  const lines = error.message.replaceAll(apiKey, REDACTED).split('\n')
  const clean = lines.map((line) => withoutBeginning(line, apiKey)).join('\n')
  if (!causeHoldsKey && clean === error.message) return error

  const { code, message: _message, cause, ...details } = error
  return new ModelError(code, clean, {
    ...details,
    cause: causeHoldsKey ? undefined : cause,
  })
}

/** A long message was cut, perhaps in the middle of the key. */
function withoutBeginning(line: string, apiKey: string): string {
  const said = line.replace(/…$/, '')
  const beginning = beginningAtEnd(said, apiKey)
  return isSecret(beginning) ? `${said.slice(0, -beginning.length)}${REDACTED}…` : line
}

/** The same JSON value without the key in any of its strings, also where a string holds JSON with the key escaped. */
export function withoutKey<Value>(value: Value, apiKey: string | undefined): Value {
  if (!isSecret(apiKey)) return value
  const escaped = JSON.stringify(apiKey).slice(1, -1)
  const forms = [...new Set([apiKey, escaped, escaped.replaceAll('/', '\\/')])]
  if (!someText(value, (text) => forms.some((form) => text.includes(form)))) return value
  const clean = (text: string) => forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text)
  return mapTexts(value, clean) as Value
}

/** Redacts the key from a text that comes in pieces. A possible beginning of the key is held back until more comes. */
export function keyFilter(
  apiKey: string | undefined,
  onText: (text: string) => void,
): { push: (text: string) => void; end: () => void } {
  let held = ''
  return {
    push(text) {
      const known = isSecret(apiKey) ? (held + text).replaceAll(apiKey, REDACTED) : text
      held = isSecret(apiKey) ? beginningAtEnd(known, apiKey) : ''
      if (known.length > held.length) onText(known.slice(0, known.length - held.length))
    },
    end() {
      if (held !== '') onText(held)
      held = ''
    },
  }
}

function isSecret(apiKey: string | undefined): apiKey is string {
  return apiKey !== undefined && apiKey.length >= SHORTEST_KEY
}

function beginningAtEnd(text: string, apiKey: string): string {
  for (let length = Math.min(apiKey.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(apiKey.slice(0, length))) return apiKey.slice(0, length)
  }
  return ''
}
