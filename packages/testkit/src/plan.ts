import type { IncomingMessage, ServerResponse } from 'node:http'
import { chatDialect } from './completion.js'
import { messagesDialect } from './messages.js'
import { responsesDialect } from './responses.js'
import {
  type AnswerTurn,
  chooseTurn,
  type Dialect,
  type Failure,
  type Fault,
  type FaultName,
  isFault,
  type ScriptRequest,
  type ServerScript,
} from './script.js'

/** By the path behind the base URL, which ends in `/v1`. */
const DIALECTS: Readonly<Record<string, Dialect>> = {
  '/chat/completions': chatDialect,
  '/messages': messagesDialect,
  '/responses': responsesDialect,
}

/** What a request gets, and how it is sent. */
export interface Plan {
  readonly outcome: string
  readonly turn?: number
  readonly problem?: string
  send(response: ServerResponse): Promise<void> | void
}

/** Says for one request after the other what the script has for it. `wait` resolves when a gate is opened. */
export function createPlanner(script: ServerScript, wait: (gate: string) => Promise<void>) {
  const visits = new Map<string, number>()
  let chosen = 0

  return (request: IncomingMessage, body: string): Plan => {
    const path = (request.url ?? '').replace(/\?.*/, '').replace(/^\/v1/, '')
    const dialect = DIALECTS[path] ?? chatDialect
    const isKnown = request.method === 'POST' && path in DIALECTS
    const refusal = isKnown ? refuse(script, dialect, body) : noSuchPath(request)
    if (refusal) return planFailure('refused', refusal, dialect)

    const parsed = dialect.read(JSON.parse(body))
    const { index, turn, key, length } = chooseTurn(script, parsed.messages, chosen++)
    if (!turn) return planFailure('exhausted', exhausted(index, length), dialect)

    const visit = visits.get(key) ?? 0
    visits.set(key, visit + 1)
    const fault = isFault(turn) ? turn : turn.before?.[visit]
    if (fault) return planFault(fault, index, dialect)
    return {
      outcome: 'answer',
      turn: index,
      send: (response) => answer(turn as AnswerTurn, { dialect, request: parsed, index }, response),
    }
  }

  async function answer(turn: AnswerTurn, { dialect, request, index }: Asked, response: ServerResponse) {
    if (turn.hold !== undefined) await wait(turn.hold)
    const parts = request.stream
      ? dialect.events(turn, request, index)
      : halves(dialect.body(turn, request, index))
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

interface Asked {
  readonly dialect: Dialect
  readonly request: ScriptRequest
  readonly index: number
}

function planFault(fault: Fault, turn: number, dialect: Dialect): Plan {
  const outcome = 'status' in fault ? `status ${fault.status}` : fault.fault
  return { outcome, turn, send: (response) => sendFault(fault, dialect, response) }
}

function planFailure(outcome: string, failure: Failure, dialect: Dialect): Plan {
  return { outcome, problem: failure.message, send: (response) => sendFailure(failure, dialect, response) }
}

function noSuchPath({ method, url }: IncomingMessage): Failure {
  return { status: 404, message: `Invalid URL (${method} ${url})` }
}

function refuse(script: ServerScript, dialect: Dialect, body: string): Failure | undefined {
  const parsed = parseJson(body)
  if (parsed === undefined)
    return { status: 400, message: 'We could not parse the JSON body of your request.' }
  const problem = dialect.findProblem(parsed as Record<string, unknown>)
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

function sendFailure(failure: Failure, dialect: Dialect, response: ServerResponse): void {
  response.writeHead(failure.status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(dialect.error(failure)))
}

function sendFault(fault: Fault, dialect: Dialect, response: ServerResponse): void {
  if ('fault' in fault) {
    BY_NAME[fault.fault](response)
    return
  }
  if (fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter)
  for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value)
  if (fault.body !== undefined) {
    response.writeHead(fault.status)
    response.end(fault.body)
    return
  }
  const { status, message = `Scripted failure ${status}.`, code } = fault
  sendFailure({ status, message, ...(code === undefined ? {} : { code }) }, dialect, response)
}

const HALF_A_BODY =
  '{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assist'
const WEB_PAGE =
  '<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body>Please log in.</body></html>\n'

const BY_NAME: Record<FaultName, (response: ServerResponse) => void> = {
  reset: (response) => {
    response.socket?.resetAndDestroy()
  },
  truncated: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(HALF_A_BODY)
  },
  cut: (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': HALF_A_BODY.length * 2 })
    response.write(HALF_A_BODY, () => response.destroy())
  },
  html: (response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(WEB_PAGE)
  },
  empty: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end()
  },
  hang: () => {},
}
