import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from './errors.js'

/** Sent with every answer: nothing of a run is executed, embedded, sniffed or handed on. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

/** Sets the headers that every answer has, errors too. */
export function setHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
}

/**
 * Refuses what no page of ours asks: a name of another machine that was pointed here, another page's request, a request that
 * would change something.
 *
 * @throws {Refusal} 403 or 405.
 */
export function checkRequest({ headers, method }: IncomingMessage, port: number): void {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  if (!hosts.includes(headers.host ?? ''))
    throw new Refusal(403, 'The Host of this request is not this server.')
  const { origin } = headers
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`))
    throw new Refusal(403, 'Another page may not ask here.')
  if (method !== 'GET' && method !== 'HEAD')
    throw new Refusal(405, 'Only GET and HEAD: nothing can be changed here.', { Allow: 'GET, HEAD' })
}

/**
 * Lets in who has the token of the printed address: other users of the machine can reach the port, too.
 *
 * @throws {Refusal} 401.
 */
export function checkToken({ headers }: IncomingMessage, token: string): void {
  const [, given = ''] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? []
  if (timingSafeEqual(digest(given), digest(token))) return
  throw new Refusal(401, 'Open the address that delta view printed: it ends with the token.', {
    'WWW-Authenticate': 'Bearer',
  })
}

/** Of equal length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
