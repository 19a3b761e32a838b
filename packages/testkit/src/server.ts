import { appendFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPlanner } from './plan.js'
import type { ServerScript } from './script.js'

/**
 * The scripted server, in a process of its own. `startScriptedServer` gives it its order over the IPC channel; it ends with
 * its parent.
 */
process.once('disconnect', () => process.exit(0))
process.once('message', async (order: ServerOrder) => {
  const { port, release } = await serveScript(order, (event) => {
    process.send?.(event, () => {}) // a parent that has gone cannot be told; its disconnect ends us
  })
  process.on('message', (message: { release: string }) => release(message.release))
  process.send?.({ type: 'listening', port })
})

/** What the server process is told to do. */
export interface ServerOrder {
  readonly script: ServerScript
  readonly logPath: string
}

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
  order: ServerOrder,
  notify: (event: ServerEvent) => void,
): Promise<{ port: number; release(name: string): void }> {
  const gates = createGates()
  const planRequest = createPlanner(order.script, gates.wait)
  let requests = 0

  const record = (event: ServerEvent) => {
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
  return { port: (server.address() as AddressInfo).port, release: gates.release }
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
