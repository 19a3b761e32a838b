import { appendFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPlanner } from './plan.js'
import type { ServerScript } from './script.js'

/**
 * The scripted servers of one process, in a process of their own. `startScriptedServer` gives each its order over the IPC
 * channel; they end with their parent.
 */
const servers = new Map<number, Awaited<ReturnType<typeof serveScript>>>()
process.once('disconnect', () => process.exit(0))
process.on('message', async (order: ServerOrder) => {
  const { id } = order
  const tell = (message: ServerEvent | ServerState) => {
    process.send?.({ ...message, id }, () => {}) // a parent that has gone cannot be told; its disconnect ends us
  }
  if ('script' in order) {
    const server = await serveScript(order, tell)
    servers.set(id, server)
    tell({ type: 'listening', port: server.port })
  } else if ('release' in order) servers.get(id)?.release(order.release)
  else {
    await servers.get(id)?.close()
    servers.delete(id)
    tell({ type: 'closed' })
  }
})

/** What the server process is told to do; `id` names the server. */
export type ServerOrder = { readonly id: number } & (
  | Script
  | { readonly release: string }
  | { readonly close: true }
)

interface Script {
  readonly script: ServerScript
  readonly logPath: string
}

/** What the parent process is told of a server, beside its events. */
export type ServerState = { readonly type: 'listening'; readonly port: number } | { readonly type: 'closed' }

/** One line of the log, and one message to the parent process. */
export type ServerEvent =
  | {
      readonly type: 'request'
      /** 1, 2, 3 … in order of arrival. */
      readonly number: number
      readonly time: string
      readonly method: string
      readonly path: string
      readonly headers: Readonly<Record<string, string | string[] | undefined>>
      /** The body as it came. */
      readonly body: string
      /** What it gets: `answer`, `refused`, `exhausted`, `status 429`, `reset` … */
      readonly outcome: string
      /** 0-based turn of the script; absent when the request never got that far. */
      readonly turn?: number
      /** Why it was refused. */
      readonly problem?: string
    }
  | { readonly type: 'end'; readonly number: number; readonly sentWhole: boolean }

/** Starts listening on 127.0.0.1. Every event is appended to the log before its effect is sent. */
async function serveScript(
  order: Script,
  notify: (event: ServerEvent) => void,
): Promise<{ port: number; release(name: string): void; close(): Promise<void> }> {
  const gates = createGates()
  const planRequest = createPlanner(order.script, gates.wait)
  let requests = 0

  const record = (event: ServerEvent) => {
    if (!server.listening) return // what closing cuts off was not cut off by a client
    appendFileSync(order.logPath, `${JSON.stringify(event)}\n`)
    notify(event)
  }
  const server = createServer(async (request, response) => {
    const body = await readBody(request).catch(() => undefined)
    if (body === undefined) return // the client went away before it had said everything
    const number = ++requests
    const { send, ...plan } = planRequest(request, body)
    response.once('close', () => record({ type: 'end', number, sentWhole: response.writableFinished }))
    record({
      type: 'request',
      number,
      time: new Date().toISOString(),
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      ...plan,
    })
    await send(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return { port: (server.address() as AddressInfo).port, release: gates.release, close }
}

function createGates() {
  const open = new Set<string>()
  const waiting: { name: string; go: () => void }[] = []

  return {
    wait: (name: string): Promise<void> =>
      open.has(name) ? Promise.resolve() : new Promise((go) => waiting.push({ name, go })),
    release(name: string): void {
      open.add(name)
      for (const gate of waiting) if (gate.name === name) gate.go()
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
