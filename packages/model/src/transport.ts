import type { IncomingMessage } from 'node:http'
import * as http from 'node:http'

/** What of an answer is used here and by the `openai` client; a small part of a `Response`. */
export interface HttpAnswer {
  readonly ok: boolean
  readonly status: number
  readonly url: string
  readonly headers: AnswerHeaders
  /** The bytes as they come; ends with an error when the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>
  text(): Promise<string>
}

/** What of `Headers` is used: the global one loads a whole HTTP client. */
export interface AnswerHeaders {
  /** @param name - In lower case. */
  get(name: string): string | null
  entries(): Iterable<[string, string]>
}

/** What of a `RequestInit` the `openai` client uses. */
export interface HttpCall {
  readonly method?: string
  readonly headers?: Iterable<[string, string]>
  readonly body?: string
  readonly signal?: AbortSignal
}

export type Transport = (url: string, call: HttpCall) => Promise<HttpAnswer>

/**
 * A `fetch` of what a chat completion needs, over `node:http(s)` with connections kept open. It has no time limits of
 * its own, and it never follows a redirect, so a key goes to the configured server only.
 */
export function createTransport(): Transport {
  const agents = new Map<string, Promise<Dialect>>()

  return async (url, { method = 'GET', headers = [], body, signal }) => {
    const { protocol } = new URL(url)
    const dialect = agents.get(protocol) ?? openDialect(protocol)
    agents.set(protocol, dialect)
    const { request, agent } = await dialect

    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, headers: Object.fromEntries(headers), agent, ...(signal ? { signal } : {}) }
      request(url, options).once('response', resolve).once('error', reject).end(body)
    })
    return answerOf(incoming, url)
  }
}

interface Dialect {
  readonly request: typeof http.request
  readonly agent: http.Agent
}

async function openDialect(protocol: string): Promise<Dialect> {
  const { request, Agent } = protocol === 'https:' ? await import('node:https') : http
  return { request, agent: new Agent({ keepAlive: true }) }
}

function answerOf(incoming: IncomingMessage, url: string): HttpAnswer {
  const status = incoming.statusCode ?? 0
  return {
    ok: status >= 200 && status < 300,
    status,
    url,
    headers: headersOf(incoming),
    body: incoming,
    text: () => readText(incoming),
  }
}

function headersOf({ headers }: IncomingMessage): AnswerHeaders {
  const texts = new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return { get: (name) => texts.get(name) ?? null, entries: () => texts.entries() }
}

/** Reads a body to its end, as UTF-8. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
