import type { ChatRequest } from '../chat.js'
import { isObject } from '../is-object.js'
import { requireThat } from '../usage.js'

/** One exchange of a recorded conversation. */
export interface ReplayRecord {
  /** The request, or the text of its body. */
  readonly request: ChatRequest | string
  /** What `ChatResponse.raw` held: a completion, or a bare assistant message. */
  readonly response: unknown
}

/** What an exchange is made of: the numbers of its parts. */
export interface RecordedParts {
  /** The request without its messages. */
  readonly parameters: number
  /** One number for each message, in order. */
  readonly messages: readonly number[]
}

/** A recorded conversation that is read piece by piece. Each part stays what it was for as long as it is open. */
export interface Recording {
  /** How many exchanges there are, oldest first. */
  readonly length: number
  /** How many messages the request of an exchange has. */
  messageCount(exchange: number): number
  /** The parts of an exchange; exchanges count from 0. */
  parts(exchange: number): RecordedParts
  /** Reads one part: a message, or a request without its messages. */
  part(number: number): unknown
  /** Reads what `ChatResponse.raw` held. */
  response(exchange: number): unknown
}

/** A recording held in memory. */
export function recordingOf(records: readonly ReplayRecord[]): Recording {
  const parts: unknown[] = []
  const add = (part: unknown): number => parts.push(part) - 1
  const exchanges = records.map((record, index) => {
    const { messages, ...parameters } = requestOf(record, index)
    return { parameters: add(parameters), messages: messages.map(add) }
  })
  const exchange = (index: number): RecordedParts => exchanges[index] ?? { parameters: -1, messages: [] }
  return {
    length: records.length,
    messageCount: (index) => exchange(index).messages.length,
    parts: exchange,
    part: (number) => parts[number],
    response: (index) => records[index]?.response,
  }
}

function requestOf(record: ReplayRecord, index: number): ChatRequest {
  const request = Object(record).request as unknown
  const parsed = typeof request === 'string' ? parseBody(request) : isObject(request) && asSent(request)
  const isRequest = isObject(parsed) && Array.isArray(parsed.messages)
  const place = `replayModel: the request of record ${index + 1}`
  requireThat(isRequest, place, 'what was sent: an object with messages, or the text of its body')
  return parsed as unknown as ChatRequest
}

/** Undefined for text that is not JSON, which no request ever was. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A value as it is sent: without fields that are undefined. */
export function asSent<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value))
}
