import type { IncomingMessage } from 'node:http'
import * as http from 'node:http'
import type { Readable } from 'node:stream'
import { urlToHttpOptions } from 'node:url'
import { limitedTo, tooLong, unpacked } from './answer-body.js'

/** What of an answer is used here and by the `openai` client; a small part of a `Response`. */
export interface HttpAnswer {
  readonly ok: boolean
  readonly status: number
  readonly url: string
  readonly headers: AnswerHeaders
  /** The bytes as they come; ends with an error when the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>
  /** The whole body; `heard` is called with every piece but white space, by which some servers show that they are alive. Rejects when the connection breaks. */
  bytes(heard?: () => void): Promise<Uint8Array>
  /** The whole body as UTF-8, for people: bytes that are none become replacement characters. */
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
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
}

export type Transport = (url: string, call: HttpCall) => Promise<HttpAnswer>

/**
 * A `fetch` of what a chat completion needs, over `node:http(s)` with connections kept open. It has no time limits of
 * its own, and it never follows a redirect, so a key goes to the configured server only.
 */
export function createTransport(): Transport {
  const targets = new Map<string, Promise<Target>>()

  return async (url, { method = 'GET', headers = [], body, signal }) => {
    const known = targets.get(url) ?? openTarget(url)
    targets.set(url, known)
    const { request, options } = await known

    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const call = { ...options, method, headers: Object.fromEntries(headers), ...(signal ? { signal } : {}) }
      const notHttp = (_: IncomingMessage, socket: Readable) => {
        socket.destroy() // it is ours now, and would keep the process waiting
        reject(new Error('The server wants to speak something other than HTTP (status 101).'))
      }
      request(call).once('response', resolve).once('error', reject).once('upgrade', notHttp).end(body)
    })
    return answerOf(incoming, url)
  }
}

/** An address, parsed once, with its connections. */
interface Target {
  readonly request: typeof http.request
  readonly options: http.RequestOptions
}

async function openTarget(url: string): Promise<Target> {
  const address = new URL(url)
  const { request, Agent } = address.protocol === 'https:' ? await import('node:https') : http
  const agent = connections.get(address.protocol) ?? new Agent({ keepAlive: true, timeout: LONGEST_IDLE_MS })
  connections.set(address.protocol, agent)
  return { request, options: { ...urlToHttpOptions(address), agent } }
}

/** Of all models of this process: one that makes a model a run must not leave a connection of each open. */
const connections = new Map<string, http.Agent>()

/** A connection that was not used for so long may be gone without a word. One that is waited on is not idle. */
const LONGEST_IDLE_MS = 60_000

async function answerOf(incoming: IncomingMessage, url: string): Promise<HttpAnswer> {
  const status = incoming.statusCode ?? 0
  const body = await unpacked(incoming)
  return {
    ok: status >= 200 && status < 300,
    status,
    url,
    headers: headersOf(incoming),
    body: limitedTo(MAX_ANSWER_BYTES, body),
    bytes: (heard) => readBytes(body, heard),
    text: async () => (await readBytes(body)).toString('utf8'),
  }
}

function headersOf({ headers }: IncomingMessage): AnswerHeaders {
  const texts = new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return { get: (name) => texts.get(name) ?? null, entries: () => texts.entries() }
}

/** No completion is this long, and what is must not take all memory. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** White space in JSON is this and what lies below it. */
const SPACE = 0x20

/** By events: an iterator over so short a stream costs more than the rest of the answer. */
function readBytes(body: Readable, heard: () => void = () => undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    body
      .on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > MAX_ANSWER_BYTES) body.destroy(tooLong(MAX_ANSWER_BYTES))
        if (chunk.some((byte) => byte > SPACE)) heard()
        chunks.push(chunk)
      })
      .once('end', () => resolve(Buffer.concat(chunks)))
      .once('error', reject)
      .once('close', () => reject(new Error('The connection was closed.'))) // after an end it changes nothing
  })
}
