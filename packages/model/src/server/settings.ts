import { ModelError } from '../errors.js'

/** @throws {ModelError} `ERR_MODEL_SETTINGS` */
export function checkBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ModelError(
      'ERR_MODEL_SETTINGS',
      'The base URL is not an http or https URL, such as http://localhost:11434/v1.',
    )
  }
  if (url.username !== '' || url.password !== '') {
    const message = `The base URL for ${url.host} holds credentials. Put the key into .env as DELTA_API_KEY instead.`
    throw new ModelError('ERR_MODEL_SETTINGS', message)
  }
  if (/\/chat\/completions\/*$/.test(url.pathname)) {
    const message = `The base URL for ${url.host} must end before /chat/completions, which is appended.`
    throw new ModelError('ERR_MODEL_SETTINGS', message)
  }
  url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}

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
