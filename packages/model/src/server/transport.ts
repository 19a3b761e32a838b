import type { IncomingMessage } from 'node:http'
import * as http from 'node:http'
import type { Readable } from 'node:stream'
import { urlToHttpOptions } from 'node:url'
import { limitedTo, tooLong, unpacked } from './answer-body.js'

/** What of an answer is used here. */
export interface HttpAnswer {
  readonly ok: boolean
  readonly status: number
  readonly headers: AnswerHeaders
  /** The bytes as they come; ends with an error when the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>
  /** The whole body; `heard` is called with every piece but white space, by which some servers show that they are alive. Rejects when the connection breaks. */
  bytes(heard?: () => void): Promise<Buffer>
  /** What comes of the body, as UTF-8, for people: its beginning when it is long, and what there is when the connection breaks. */
  text(): Promise<string>
}

export interface AnswerHeaders {
  /** @param name - In lower case. */
  get(name: string): string | null
}

export interface HttpCall {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** Ends the call: given a function that does so, and calls it when it is time. */
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
        socket.destroy() // it is ours now, and would keep the process waiting
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

/** Of all models of this process: one that makes a model a run must not leave a connection of each open. */
const connections = new Map<string, http.Agent>()

/** A connection that was not used for so long may be gone without a word. One that is waited on is not idle. */
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

/** No completion is this long, and what is must not take all memory. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** What a server says of an error. */
const MAX_TEXT_BYTES = 1024 * 1024

async function readText(body: Readable): Promise<string> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of limitedTo(MAX_TEXT_BYTES, body)) chunks.push(chunk)
  } catch {
    // its status says what happened, however the explanation ends
  }
  return Buffer.concat(chunks).toString('utf8')
}

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
