import type { IncomingMessage } from 'node:http'
import * as http from 'node:http'
import type { Readable } from 'node:stream'
import { urlToHttpOptions } from 'node:url'
import { limitedTo, tooLong, unpacked } from './answer-body.js'

/** The parts of an HTTP answer that are used here. */
export interface HttpAnswer {
  readonly ok: boolean
  readonly status: number
  readonly headers: AnswerHeaders
  /** The bytes as they come; ends with an error when the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>
  /** The whole body. `heard` is called for each piece, except for white space, which some servers send as a sign of life. Rejects when the connection breaks. */
  bytes(heard?: () => void): Promise<Buffer>
  /** The body as UTF-8 text for people: only its beginning when it is long, and only what came when the connection breaks. */
  text(): Promise<string>
}

export interface AnswerHeaders {
  /** @param name - In lower case. */
  get(name: string): string | null
}

export interface HttpCall {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** Receives the function that ends the call, and calls it when the call must end. */
  readonly whenOver: (end: () => void) => void
}

/** Rejects with what Node says of a request that got no answer. */
export type Send = (call: HttpCall) => Promise<HttpAnswer>

/**
 * A way to post to one address, over `node:http(s)` with connections kept open. It has no time limits of
 * its own, and it never follows a redirect, so a key goes to the configured server only.
 */
export async function openTransport(url: string): Promise<Send> {
  const address = new URL(url)
  const { request, Agent } = address.protocol === 'https:' ? await import('node:https') : http
  const agent = connections.get(address.protocol) ?? new Agent({ keepAlive: true, timeout: LONGEST_IDLE_MS })
  connections.set(address.protocol, agent)
  const options = { ...urlToHttpOptions(address), agent, method: 'POST' }

  return async ({ body, headers, whenOver }) => {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const notHttp = (_: IncomingMessage, socket: Readable) => {
        socket.destroy() // the socket is ours now, and would keep the process alive
        reject(new Error('The server tried to switch to another protocol than HTTP (status 101).'))
      }
      const call = request({ headers, ...options })
        .once('response', resolve)
        .once('error', reject)
        .once('upgrade', notHttp)
      whenOver(() => call.destroy(new Error('The call was ended.')))
      call.end(body)
    })
    return answerOf(incoming)
  }
}

/** Shared by all models of the process: a program that makes a model for each run must not keep a connection open for each. */
const connections = new Map<string, http.Agent>()

/** A connection idle for this long may be gone without notice. One with a request in flight is not idle. */
const LONGEST_IDLE_MS = 60_000

async function answerOf(incoming: IncomingMessage): Promise<HttpAnswer> {
  const status = incoming.statusCode ?? 0
  const body = await unpacked(incoming)
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: headersOf(incoming),
    body: limitedTo(MAX_ANSWER_BYTES, body),
    bytes: (heard) => readBytes(body, heard),
    text: () => readText(body),
  }
}

function headersOf({ headers }: IncomingMessage): AnswerHeaders {
  return { get: (name) => (headers[name] === undefined ? null : String(headers[name])) }
}

/** No completion is this long, and a longer body must not exhaust the memory. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** What a server says of an error. */
const MAX_TEXT_BYTES = 1024 * 1024

async function readText(body: Readable): Promise<string> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of limitedTo(MAX_TEXT_BYTES, body)) chunks.push(chunk)
  } catch {
    // the status says what happened; the explanation may be incomplete
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** White space in JSON is this byte or a smaller one. */
const SPACE = 0x20

/** By events: for so short a stream, an async iterator costs more than everything else. */
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
      .once('close', () => reject(new Error('The connection was closed.'))) // has no effect after `end`
  })
}
