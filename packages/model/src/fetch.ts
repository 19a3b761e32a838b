import * as http from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** The body and headers of a request. Only headers that match `SENT` or are in `allowed` leave the machine. */
interface PostOptions {
  readonly body: Uint8Array
  readonly headers: Headers
  readonly allowed: readonly string[]
  readonly signal: AbortSignal
}

/**
 * Posts over `node:http(s)`, without a time limit. Node's own `fetch` ends a request after five silent minutes and knows no
 * proxy. This one uses the proxies of the environment and keeps connections open. It follows no redirect, so a key goes to
 * the configured server only. The reader of an answer limits its length.
 */
export async function post(url: string, { body, headers, allowed, signal }: PostOptions): Promise<Response> {
  const address = new URL(url)
  const { request } = address.protocol === 'https:' ? await import('node:https') : http
  const agent = await agentFor(address)
  const named = new Set(allowed.map((name) => name.toLowerCase()))
  const sent = Object.fromEntries([...headers].filter(([name]) => SENT.test(name) || named.has(name)))
  const incoming = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request(address, { method: 'POST', agent, signal, headers: sent })
      .once('response', resolve)
      .on('error', reject)
      .once('close', () => reject(new Error('It closed the connection without an answer.'))) // after status 101, say
      .end(body)
  })
  incoming.on('error', () => undefined) // the reader of the body gets it, too
  const status = incoming.statusCode ?? 0
  if (status < 200 || status > 599) throw new Error(`It answered with the status ${status}.`)
  if (status === 204 || status === 205 || status === 304) {
    incoming.resume() // or its connection stays open
    return new Response(null, { status }) // which refuses a body there
  }
  const received = Object.entries(incoming.headers).filter(([, value]) => typeof value === 'string')
  return new Response(withoutEmpty(unpacked(incoming)), { status, headers: received as [string, string][] })
}

/** The clients add headers that the environment names; those are not sent. */
const SENT = /^(accept|authorization|content-type|user-agent|x-stainless-.*)$/

/** Shared by all models of the process, so that a program with a model for each run does not keep a connection for each. */
const agents = new Map<string, http.Agent>()

/** Closes a connection that no request has used for a minute: it may be gone without notice. */
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
  // @ts-expect-error: the package has no types
  const { getProxyForUrl }: { getProxyForUrl(url: string): string } = await import('proxy-from-env')
  return getProxyForUrl(href)
}

/** Some servers compress unasked. An unknown coding is left as it is. */
function unpacked(incoming: http.IncomingMessage): Readable {
  const coding = incoming.headers['content-encoding']?.trim().toLowerCase() ?? ''
  const unpacker = UNPACKERS.get(coding)?.()
  if (!unpacker) return incoming
  return pipeline(incoming, unpacker, () => undefined) // the reader of the unpacked bytes gets the error
}

const UNPACKERS = new Map<string, () => NodeJS.ReadWriteStream & Readable>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/** `Response` would wait for ever after an empty part. */
async function* withoutEmpty(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of body) if (part.length > 0) yield part
}

/** The part of an error's body that is read. */
const MAX_EXPLANATION_BYTES = 1024 * 1024

/** The body as text for people: its beginning when it is long, and what arrived when the connection breaks. */
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
