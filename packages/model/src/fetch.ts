import * as http from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** What is posted. Only the headers that `SENT` names leave the machine. */
export interface Posted {
  readonly body: Uint8Array
  readonly headers: Headers
  readonly signal: AbortSignal
}

/**
 * A `fetch` that posts over `node:http(s)`. Node's own one gives up on a server that is silent for five minutes, and knows
 * no proxy. This one has no time limit, uses the proxies of the environment and keeps connections open. It follows no
 * redirect, so a key goes to the configured server only. An answer ends with an error after 64 MiB.
 */
export async function post(url: string, { body, headers, signal }: Posted): Promise<Response> {
  const address = new URL(url)
  const { request } = address.protocol === 'https:' ? await import('node:https') : http
  const agent = await agentFor(address)
  const sent = Object.fromEntries([...headers].filter(([name]) => SENT.test(name)))
  const incoming = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request(address, { method: 'POST', agent, signal, headers: sent })
      .once('response', resolve)
      .on('error', reject)
      .once('upgrade', (_, socket) => {
        socket.destroy() // the socket is ours now, and would keep the process alive
        reject(new Error('The server tried to switch to another protocol than HTTP (status 101).'))
      })
      .end(body)
  })
  incoming.on('error', () => undefined) // it reaches whoever reads the body, if anybody does
  const status = incoming.statusCode ?? 0
  if (status === 204 || status === 205 || status === 304) {
    incoming.resume() // or its connection stays open
    return new Response(null, { status }) // which refuses a body there
  }
  const told = Object.entries(incoming.headers).filter(([, value]) => typeof value === 'string')
  return new Response(limited(unpacked(incoming)), { status, headers: told as [string, string][] })
}

/** The client adds headers that the environment names; they stay here. */
const SENT = /^(accept|authorization|content-type|user-agent|x-stainless-.*)$/

/** Shared by all models of the process: a program that makes a model for each run must not keep a connection open for each. */
const agents = new Map<string, http.Agent>()

/** A connection idle for this long may be gone without notice. One with a request in flight is not idle. */
const AGENT_OPTIONS = { keepAlive: true, timeout: 60_000 }

async function agentFor(address: URL): Promise<http.Agent> {
  const proxy = await proxyFor(address)
  const name = `${address.protocol} ${proxy}`
  const agent = agents.get(name) ?? (await openAgent(address, proxy))
  agents.set(name, agent)
  return agent
}

async function openAgent({ protocol }: URL, proxy: string): Promise<http.Agent> {
  if (proxy !== '') {
    const { HttpsProxyAgent } = await import('https-proxy-agent')
    return new HttpsProxyAgent(proxy, AGENT_OPTIONS)
  }
  const { Agent } = protocol === 'https:' ? await import('node:https') : http
  return new Agent(AGENT_OPTIONS)
}

/** The proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name for an address; '' for none. */
async function proxyFor({ hostname, href }: URL): Promise<string> {
  const isSet = Object.keys(process.env).some((name) => /^https?_proxy$/i.test(name))
  const isLoopback = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
  if (!isSet || isLoopback) return ''
  const { getProxyForUrl } = await import('proxy-from-env')
  return getProxyForUrl(href)
}

/** Servers may compress though nobody asked them to. A coding that is not known is left as it is. */
function unpacked(incoming: http.IncomingMessage): Readable {
  const coding = incoming.headers['content-encoding']?.trim().toLowerCase() ?? ''
  const unpacker = UNPACKERS[coding]?.()
  if (!unpacker) return incoming
  return pipeline(incoming, unpacker, () => undefined) // an error reaches whoever reads the unpacked bytes
}

const UNPACKERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** No completion is this long, and a longer body must not exhaust the memory. */
const MAX_BYTES = 64 * 1024 * 1024

/** What `post` says of an answer without end. */
export const TOO_LONG = 'ERR_ANSWER_TOO_LONG'

async function* limited(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const part of body) {
    length += part.length
    if (length > MAX_BYTES) throw Object.assign(new Error('It is longer than 64 MiB.'), { code: TOO_LONG })
    if (part.length > 0) yield part // `Response` would wait for ever after an empty one
  }
}

/** What a server says of an error is no longer than this. */
const MAX_EXPLANATION_BYTES = 1024 * 1024

/** The body as text for people: only its beginning when it is long, and only what came when the connection breaks. */
export async function beginningOf({ body }: Response): Promise<string> {
  const all: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of body ?? []) {
      all.push(part)
      length += part.length
      if (length > MAX_EXPLANATION_BYTES) break
    }
  } catch {
    // the status says what happened; the explanation may be incomplete
  }
  return Buffer.concat(all).toString('utf8')
}
