import type { IncomingMessage, ServerResponse } from 'node:http'
import { chatDialect } from './completion.js'
import { type Answer, answerOf, type Dialect, type Failure, type Fields } from './dialect.js'
import { findHistoryProblem } from './history.js'
import { messagesDialect } from './messages.js'
import { responsesDialect } from './responses.js'
import {
  type AnswerTurn,
  chooseTurn,
  type Fault,
  type FaultName,
  isFault,
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

  return (incoming: IncomingMessage, text: string): Plan => {
    const path = (incoming.url ?? '').replace(/\?.*/, '').replace(/^\/v1/, '')
    const dialect = DIALECTS[path] ?? chatDialect
    const refuse = (failure: Failure) => planFailure('refused', failure, dialect)
    if (incoming.method !== 'POST' || !(path in DIALECTS)) return refuse(noSuchPath(incoming))
    const request = parseJson(text)
    if (request === undefined) return refuse(NOT_JSON)
    const messages = dialect.read(request)
    const refusal = findRefusal(script, { request, messages, dialect })
    if (refusal) return refuse(refusal)

    const { index, turn, key, length } = chooseTurn(script, messages, chosen++)
    if (!turn) return planFailure('exhausted', exhausted(index, length), dialect)
    const visit = visits.get(key) ?? 0
    visits.set(key, visit + 1)
    const fault = isFault(turn) ? turn : turn.before?.[visit]
    const said = isFault(turn) ? NEVER_HEARD : turn
    const answer = { dialect, answer: answerOf(said, { request, messages, index }) }
    if (fault) return planFault(fault, index, answer)
    return { outcome: 'answer', turn: index, send: (response) => send(said, answer, response) }
  }

  async function send(turn: AnswerTurn, spelled: Spelled, response: ServerResponse) {
    if (turn.hold !== undefined) await wait(turn.hold)
    const parts = beginAnswer(spelled, response)
    if (turn.holdMidway !== undefined) {
      const middle = Math.ceil(parts.length / 2)
      for (const part of parts.splice(0, middle)) response.write(part)
      await wait(turn.holdMidway)
    }
    for (const part of parts) response.write(part)
    response.end()
  }
}

interface Spelled {
  readonly dialect: Dialect
  readonly answer: Answer
}

/** Sets the content type, and returns the body in pieces: the events of a stream, or two halves. */
function beginAnswer({ dialect, answer }: Spelled, response: ServerResponse): string[] {
  const isStreamed = answer.request.stream === true
  response.setHeader('content-type', isStreamed ? 'text/event-stream' : 'application/json')
  return isStreamed ? dialect.events(answer) : halves(JSON.stringify(dialect.body(answer)))
}

/** What a fault cuts that has no answer behind it. */
const NEVER_HEARD: AnswerTurn = { content: 'Nobody hears this to its end.' }

function planFault(fault: Fault, turn: number, spelled: Spelled): Plan {
  if ('status' in fault)
    return {
      outcome: `status ${fault.status}`,
      turn,
      send: (response) => sendError(fault, spelled.dialect, response),
    }
  return {
    outcome: fault.fault,
    turn,
    send: (response) => BY_NAME[fault.fault](response, () => beginAnswer(spelled, response).join('')),
  }
}

function planFailure(outcome: string, failure: Failure, dialect: Dialect): Plan {
  return { outcome, problem: failure.message, send: (response) => sendFailure(failure, dialect, response) }
}

const NOT_JSON = { status: 400, message: 'We could not parse the JSON body of your request.' }

/** The conversation of any API is checked as a chat; tools only where they are spelled as in one. */
function findRefusal(
  script: ServerScript,
  { request, messages, dialect }: { request: Fields; messages: readonly Fields[]; dialect: Dialect },
): Failure | undefined {
  const tools = dialect === chatDialect ? request.tools : undefined
  const problem = findHistoryProblem({ model: request.model, messages, tools })
  if (problem) return { status: 400, ...problem }
  const param = 'stream_options'
  if (!script.refuseStreamOptions || !(param in request)) return undefined
  return { status: 400, message: `Unrecognized request argument supplied: ${param}`, param }
}

function noSuchPath({ method, url }: IncomingMessage): Failure {
  return { status: 404, message: `Invalid URL (${method} ${url})` }
}

function exhausted(index: number, length: number): Failure {
  return {
    status: 400,
    message: `The script has ${length} turns, and this request asks for turn ${index + 1}.`,
    code: 'script_exhausted',
  }
}

/** Two halves of a text. A character that is two units of UTF-16 stays whole. */
function halves(text: string): [string, string] {
  const characters = [...text]
  const rest = characters.splice(Math.ceil(characters.length / 2))
  return [characters.join(''), rest.join('')]
}

function parseJson(text: string): Fields | undefined {
  try {
    return Object(JSON.parse(text))
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
