import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RunsAt } from '@delta/trace'
import { ASSETS, type Asset, readAssets } from './assets.js'
import { openCatalog } from './catalog.js'
import { Refusal, ViewError } from './errors.js'
import { checkRequest, checkToken, setHeaders } from './guard.js'
import { route } from './routes.js'

/** What is shown, and where. */
export interface ServeOptions {
  /** Where runs are looked for. Nothing outside these directories is opened. */
  places: readonly RunsAt[]
  /** The run that the page opens on: its directory. */
  run?: string | undefined
  /** Fails if it is taken. Default: 7333, or the next one that is free. */
  port?: number | undefined
  /** Where the built page lies. Default: beside this module. */
  assets?: string | undefined
}

/** A page that is served. */
export interface Served {
  /** With the token: whoever has it sees the runs. */
  url: string
  port: number
  /** How many runs there were at the start. */
  runs: number
  /** Ends all connections. */
  close(): Promise<void>
}

/** Tried first when no port is named. */
export const USUAL_PORT = 7333

/**
 * Serves a page that shows runs, on this machine only, until it is closed. It reads them while they are written, and writes nothing.
 *
 * @throws {ViewError} `ERR_VIEW_ASSETS`, `ERR_VIEW_PORT`.
 * @example
 * const { url, close } = await serve({ places: ['bench'] })
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const { places, run, port: wanted, assets: directory = ASSETS } = options
  const assets = readAssets(directory)
  const catalog = openCatalog(places)
  await catalog.refresh()
  const token = randomBytes(16).toString('base64url')
  const closing = new AbortController()
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => refuse(response, error))
  })
  const port = await listen(server, wanted)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    setHeaders(response)
    checkRequest(request, port)
    const url = new URL(request.url ?? '/', `http://127.0.0.1:${port}`)
    const asset = assets.get(url.pathname)
    if (asset) return sendAsset(request, response, asset)
    checkToken(request, token)
    await route({ url, request, response, catalog, closing: closing.signal })
  }

  const key = run === undefined ? undefined : catalog.keyOf(run)
  return {
    url: `http://127.0.0.1:${port}/#t=${token}${key === undefined ? '' : `/run/${key}`}`,
    port,
    runs: catalog.size(),
    close() {
      closing.abort()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
}

function sendAsset({ headers }: IncomingMessage, response: ServerResponse, asset: Asset): void {
  const { type, bytes, gzip, isHashed } = asset
  const isPacked = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
  if (isHashed) response.setHeader('Cache-Control', 'public, max-age=31536000, immutable')
  if (isPacked) response.setHeader('Content-Encoding', 'gzip')
  const body = isPacked ? gzip : bytes
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': body.length, Vary: 'Accept-Encoding' })
  response.end(body)
}

/** A route that failed: the page shows why, and stays up. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { status, headers } = error instanceof Refusal ? error : { status: 500, headers: {} }
  const message = error instanceof Error ? error.message : String(error)
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify({ error: message }))
}

/** How many ports are tried after the usual one. */
const MOST_PORTS = 100

async function listen(server: Server, wanted: number | undefined): Promise<number> {
  const last = wanted ?? USUAL_PORT + MOST_PORTS
  for (let port = wanted ?? USUAL_PORT; ; port++) {
    try {
      await listenAt(server, port)
      return (server.address() as AddressInfo).port
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'EADDRINUSE' && port < last) continue
      const isTaken = code === 'EADDRINUSE' && wanted !== undefined
      const why = isTaken
        ? `Port ${port} is taken. Leave --port out to use a free one.`
        : `Port ${port}: ${message}`
      throw new ViewError('ERR_VIEW_PORT', why, { cause: error })
    }
  }
}

function listenAt(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}
