import { appendFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { completionBody, completionEvents } from './completion.js'
import { type Failure, sendFailure, sendFault } from './fault.js'
import { findHistoryProblem } from './history.js'
import type { AnswerTurn, Fault, ScriptRequest, ServerScript } from './script.js'
import { chooseTurn, isFault } from './script.js'

/** What the server process is told to do. */
export interface ServerOrder {
  readonly script: ServerScript
  /** 0: any free port. */
  readonly port: number
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

interface Plan {
  readonly outcome: string
  readonly turn?: number
  readonly problem?: string
  send(response: ServerResponse): Promise<void> | void
}

/** Starts listening on 127.0.0.1. Every event is appended to the log before its effect is sent. */
export async function serveScript(
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
    const body = await readBody(request)
    const path = request.url ?? ''
    if (path.startsWith('/release/')) {
      gates.release(decodeURIComponent(path.slice('/release/'.length)))
      response.end()
      return
    }
    const number = ++requests
    const { send, ...plan } = planRequest(request, body)
    response.once('close', () => record({ type: 'end', number, sentWhole: response.writableFinished }))
    record({
      type: 'request',
      number,
      time: new Date().toISOString(),
      method: request.method ?? '',
      path,
      headers: request.headers,
      body,
      ...plan,
    })
    await send(response)
  })
  await new Promise<void>((resolve) => server.listen(order.port, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, release: gates.release }
}

function createPlanner(script: ServerScript, wait: (gate: string) => Promise<void>) {
  const visits = new Map<string, number>()
  let chosen = 0

  return (request: IncomingMessage, body: string): Plan => {
    const refusal = refuse(script, request, body)
    if (refusal) return planFailure('refused', refusal)

    const parsed = JSON.parse(body) as ScriptRequest
    const { index, turn, key, length } = chooseTurn(script, parsed.messages, chosen++)
    if (!turn) return planFailure('exhausted', exhausted(index, length))

    const visit = visits.get(key) ?? 0
    visits.set(key, visit + 1)
    const fault = isFault(turn) ? turn : turn.before?.[visit]
    if (fault) return planFault(fault, index)
    return {
      outcome: 'answer',
      turn: index,
      send: (response) => answer(turn as AnswerTurn, parsed, index, response),
    }
  }

  async function answer(turn: AnswerTurn, request: ScriptRequest, index: number, response: ServerResponse) {
    if (turn.hold !== undefined) await wait(turn.hold)
    const parts = request.stream
      ? completionEvents(turn, request, index)
      : halves(completionBody(turn, request, index))
    response.setHeader('content-type', request.stream ? 'text/event-stream' : 'application/json')
    if (turn.holdMidway !== undefined) {
      const middle = Math.ceil(parts.length / 2)
      for (const part of parts.splice(0, middle)) response.write(part)
      await wait(turn.holdMidway)
    }
    for (const part of parts) response.write(part)
    response.end()
  }
}

function planFault(fault: Fault, turn: number): Plan {
  const outcome = 'status' in fault ? `status ${fault.status}` : fault.fault
  return { outcome, turn, send: (response) => sendFault(fault, response) }
}

function planFailure(outcome: string, failure: Failure): Plan {
  return { outcome, problem: failure.message, send: (response) => sendFailure(failure, response) }
}

function refuse(script: ServerScript, request: IncomingMessage, body: string): Failure | undefined {
  const path = (request.url ?? '').replace(/\?.*/, '')
  if (request.method !== 'POST' || !/^(\/v1)?\/chat\/completions$/.test(path)) {
    return { status: 404, message: `Invalid URL (${request.method} ${request.url})` }
  }
  if (script.apiKey !== undefined && request.headers.authorization !== `Bearer ${script.apiKey}`) {
    return { status: 401, message: 'Incorrect API key provided.', code: 'invalid_api_key' }
  }
  const parsed = parseJson(body)
  if (parsed === undefined)
    return { status: 400, message: 'We could not parse the JSON body of your request.' }
  const problem = findHistoryProblem(parsed)
  if (problem) return { status: 400, ...problem }
  if (script.refuseStreamOptions && 'stream_options' in (parsed as object)) {
    return {
      status: 400,
      message: 'Unrecognized request argument supplied: stream_options',
      param: 'stream_options',
    }
  }
  return undefined
}

function exhausted(index: number, length: number): Failure {
  return {
    status: 400,
    message: `The script has ${length} turns, and this request asks for turn ${index + 1}.`,
    code: 'script_exhausted',
  }
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

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller answers 400, as an API does
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
