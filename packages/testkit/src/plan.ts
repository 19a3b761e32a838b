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
    const asked = { dialect, request: parsed, index }
    const fault = isFault(turn) ? turn : turn.before?.[visit]
    if (fault) return planFault(fault, isFault(turn) ? NEVER_HEARD : turn, asked)
    return { outcome: 'answer', turn: index, send: (response) => answer(turn as AnswerTurn, asked, response) }
  }

  async function answer(turn: AnswerTurn, asked: Asked, response: ServerResponse) {
    if (turn.hold !== undefined) await wait(turn.hold)
    const parts = beginAnswer(turn, asked, response)
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

/** Sets the content type, and returns the body in pieces: the events of a stream, or two halves. */
function beginAnswer(
  turn: AnswerTurn,
  { dialect, request, index }: Asked,
  response: ServerResponse,
): string[] {
  response.setHeader('content-type', request.stream ? 'text/event-stream' : 'application/json')
  return request.stream ? dialect.events(turn, request, index) : halves(dialect.body(turn, request, index))
}

/** What a fault cuts that has no answer behind it. */
const NEVER_HEARD: AnswerTurn = { content: 'Nobody hears this to its end.' }

function planFault(fault: Fault, turn: AnswerTurn, asked: Asked): Plan {
  const outcome = 'status' in fault ? `status ${fault.status}` : fault.fault
  return {
    outcome,
    turn: asked.index,
    send: (response) =>
      'status' in fault
        ? sendError(fault, asked.dialect, response)
        : BY_NAME[fault.fault](response, () => beginAnswer(turn, asked, response).join('')),
  }
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

function halves(text: string): [string, string] {
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

function sendError(
  fault: Extract<Fault, { status: number }>,
  dialect: Dialect,
  response: ServerResponse,
): void {
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

const WEB_PAGE =
  '<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body>Please log in.</body></html>\n'

/** `begin` sets the content type of the answer, and returns its body. */
const BY_NAME: Record<FaultName, (response: ServerResponse, begin: () => string) => void> = {
  reset: (response) => {
    response.socket?.resetAndDestroy()
  },
  truncated: (response, begin) => {
    response.end(halves(begin())[0])
  },
  cut: (response, begin) => {
    const body = begin()
    response.setHeader('content-length', Buffer.byteLength(body))
    response.write(halves(body)[0], () => response.destroy())
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
