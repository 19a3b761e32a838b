import type { Api, BlobReader, ChatModel, ChatRequest } from './chat.js'
import { ModelError } from './errors.js'
import { type Fields, fieldsOf, isObject, reasoningOf } from './response.js'
import { FORMATS, fromWire, toWire } from './wire.js'

/** One exchange of a recorded conversation. */
export interface ReplayRecord {
  /** The request, or the text of the body that `toWire` made of it. */
  readonly request: ChatRequest | string
  /** What `ChatResponse.raw` held: an answer of the API, or a bare assistant message of a chat. */
  readonly response: unknown
  /** Default `chat`. */
  readonly api?: Api | undefined
}

/** The numbers of the parts that the body of an exchange's request consists of. */
export interface RecordedParts {
  /** The body without the list of its messages. */
  readonly parameters: number
  /** One number for each message, in order. */
  readonly messages: readonly number[]
}

/** A recorded conversation that is read piece by piece. Parts do not change while it is open. */
export interface Recording {
  /** How many exchanges there are. They count from 0, oldest first. */
  readonly length: number
  parts(exchange: number): RecordedParts
  /** The API of an exchange; without it `chat`. */
  api?(exchange: number): Api
  /** Reads one part: a message, or a body without its messages. */
  part(number: number): unknown
  /** Reads what `ChatResponse.raw` held. */
  response(exchange: number): unknown
}

/** A recording held in memory. */
function recordingOf(records: readonly ReplayRecord[]): Recording {
  const parts: unknown[] = []
  const add = (part: unknown): number => parts.push(part) - 1
  const exchanges = records.map(({ request, api = 'chat' }) => {
    const sent = typeof request === 'string' ? request : JSON.stringify(toWire(api, request).body)
    const { [FORMATS[api].list]: messages, ...parameters } = JSON.parse(sent) as Record<string, unknown[]>
    return { parameters: add(parameters), messages: (messages ?? []).map(add) }
  })
  return {
    length: records.length,
    parts: (index) => exchanges[index] ?? { parameters: -1, messages: [] },
    api: (index) => records[index]?.api ?? 'chat',
    part: (number) => parts[number],
    response: (index) => records[index]?.response,
  }
}

/** How a recorded request and one of now are compared. */
export interface ReplayOptions {
  /** Makes the texts of both equal in what does not count: paths of another directory, times. */
  comparable?: ((text: string) => string) | undefined
}

/**
 * A model that answers exactly the recorded requests. `stream` and `stream_options` are not compared. Equal requests get their
 * answers one after the other. An interrupted replay goes on in a new process, because nothing else is kept in memory.
 *
 * @param recorded - The exchanges, or a `Recording`. Each message of a recording is read and compared once, so a message must
 *   not change after it was sent.
 * @returns A model whose `complete` throws `ERR_MODEL_REPLAY_DIFFERS` for any other request; the message names the first
 *   difference from the nearest recorded one.
 *
 * @example
 * const model = replayModel([{ request, response: answer.raw }])
 * const { message } = await model.complete(request)
 */
export function replayModel(
  recorded: readonly ReplayRecord[] | Recording,
  { comparable }: ReplayOptions = {},
): ChatModel {
  const recording = 'part' in recorded ? recorded : recordingOf(recorded)
  const comparer = comparerOf(recording, comparable)
  const used = new Set<number>()
  let next = 0

  return {
    /** As the API of the next exchange wants it. */
    toWire(request, blobs) {
      const api = recording.length === 0 ? 'chat' : apiOf(recording, Math.min(next, recording.length - 1))
      return toWire(api, request, blobs)
    },

    async complete(request, { signal, blobs, onDelta } = {}) {
      if (signal?.aborted) throw new ModelError('ERR_MODEL_ABORTED', 'The request was stopped.')
      const bodyFor = bodiesOf(request, { recording, blobs })
      const isSame = (index: number) => comparer.isSame(index, bodyFor(index))
      const inTurn = exchangesOf(recording).map((index) => (next + index) % recording.length)
      const index =
        inTurn.find((each) => !used.has(each) && isSame(each)) ??
        inTurn.findLast((each) => used.has(each) && isSame(each))
      if (index === undefined) throw notRecorded(recording, comparer, bodyFor)

      used.add(index)
      next = index + 1
      const answer = fromWire(apiOf(recording, index), recording.response(index))
      const reasoning = reasoningOf(answer.message)
      if (reasoning) onDelta?.({ reasoning })
      if (answer.message.content) onDelta?.({ content: answer.message.content })
      return answer
    },
  }
}

function exchangesOf({ length }: Recording): number[] {
  return Array.from({ length }, (_, index) => index)
}

function apiOf(recording: Recording, exchange: number): Api {
  return recording.api?.(exchange) ?? 'chat'
}

interface Comparer {
  isSame(exchange: number, body: Body): boolean
  /** How many messages an exchange has in common with a body, from the start. */
  shared(exchange: number, body: Body): number
}

function comparerOf(recording: Recording, comparable: ReplayOptions['comparable']): Comparer {
  /** The text of a message that a recorded part equals, so that each part of a long conversation is read once. */
  const texts = new Map<number, string>()

  function isComparable(recorded: unknown, now: unknown): boolean {
    if (comparable === undefined) return false
    return firstDifference(withTexts(recorded, comparable), withTexts(now, comparable)) === undefined
  }

  function isRecorded(text: string, part: number | undefined): boolean {
    if (part === undefined) return false
    if (texts.get(part) === text) return true
    const now: unknown = JSON.parse(text)
    const recorded = recording.part(part)
    if (firstDifference(recorded, now) && !isComparable(recorded, now)) return false
    texts.set(part, text)
    return true
  }

  return {
    isSame(exchange, body) {
      const { parameters, messages } = recording.parts(exchange)
      if (messages.length !== body.messages.length) return false
      const recorded = compared(recording.part(parameters))
      if (firstDifference(recorded, body.parameters) && !isComparable(recorded, body.parameters)) return false
      return body.messages.every((text, at) => isRecorded(text, messages[at]))
    },
    shared(exchange, { messages }) {
      const recorded = recording.parts(exchange).messages
      const end = messages.findIndex((text, at) => !isRecorded(text, recorded[at]))
      return end === -1 ? messages.length : end
    },
  }
}

/** The error that shows how the nearest recorded request differs. */
function notRecorded(recording: Recording, comparer: Comparer, bodyFor: BodyFor): ModelError {
  if (recording.length === 0)
    return new ModelError('ERR_MODEL_SCRIPT_END', 'The recording is empty, so nothing can be replayed.')

  const shared = exchangesOf(recording).map((index) => comparer.shared(index, bodyFor(index)))
  const nearest = shared.indexOf(Math.max(...shared))
  const body = bodyFor(nearest)
  const { list } = FORMATS[apiOf(recording, nearest)]
  const { parameters, messages } = recording.parts(nearest)
  const difference = firstDifference(
    { ...compared(recording.part(parameters)), [list]: messages.map((part) => recording.part(part)) },
    { ...body.parameters, [list]: body.messages.map((text) => JSON.parse(text)) },
  )
  return new ModelError(
    'ERR_MODEL_REPLAY_DIFFERS',
    `This request was not recorded. The nearest is request ${nearest + 1} of ${recording.length}; the first difference is at ` +
      `${difference?.path}:\n  recorded: ${difference?.left}\n  now:      ${difference?.right}\n` +
      'Replay with the recorded files, model and parameters, or record the run again.',
  )
}

/** A request as the API of an exchange wants it. */
type BodyFor = (exchange: number) => Body

/** Makes the body of each API once. */
function bodiesOf(
  request: ChatRequest,
  { recording, blobs }: { recording: Recording; blobs: BlobReader | undefined },
): BodyFor {
  const bodies = new Map<Api, Body>()
  return (exchange) => {
    const api = apiOf(recording, exchange)
    const body = bodies.get(api) ?? bodyOf(api, request, blobs)
    bodies.set(api, body)
    return body
  }
}

/** A body, taken apart like the recorded ones. */
interface Body {
  readonly parameters: Fields
  /** As JSON. */
  readonly messages: readonly string[]
}

function bodyOf(api: Api, request: ChatRequest, blobs: BlobReader | undefined): Body {
  const { body, list } = toWire(api, request, blobs)
  const parameters = JSON.parse(JSON.stringify({ ...body, [list]: [] })) // as it is sent: without undefined fields
  const messages = body[list] as readonly object[]
  return { parameters: compared(parameters), messages: messages.map((message) => JSON.stringify(message)) }
}

/** Whether an answer is streamed makes no difference. Messages are compared one by one. */
function compared(parameters: unknown): Fields {
  const { stream: _s, stream_options: _o, messages: _m, input: _i, ...rest } = fieldsOf(parameters)
  return rest
}

/** A JSON value with each of its texts replaced. */
function withTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map((each) => withTexts(each, replace))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withTexts(each, replace)]))
}

interface Difference {
  /** Where: `messages[2].content`. */
  readonly path: string
  /** Both values there, cut to the part that differs. */
  readonly left: string
  readonly right: string
}

/** The first place where two JSON values differ; undefined when they are equal. The order of keys does not count. */
function firstDifference(left: unknown, right: unknown, path = ''): Difference | undefined {
  if (Object.is(left, right)) return undefined
  const areLists = Array.isArray(left) && Array.isArray(right)
  if (!areLists && !(isObject(left) && isObject(right))) return { path, ...excerpts(left, right) }
  const [a, b] = [left, right] as [Fields, Fields]
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const place = areLists ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    const difference = firstDifference(a[key], b[key], place)
    if (difference) return difference
  }
  return undefined
}

/** Characters of an excerpt, and how many of them stand before the difference. */
const LENGTH = 80
const BEFORE = 20

function excerpts(left: unknown, right: unknown): { left: string; right: string } {
  if (typeof left !== 'string' || typeof right !== 'string') return { left: show(left), right: show(right) }
  let at = 0
  while (at < left.length && left[at] === right[at]) at++
  return { left: cut(left, at), right: cut(right, at) }
}

function cut(text: string, at: number): string {
  const start = Math.max(0, at - BEFORE)
  const part = JSON.stringify(text.slice(start, start + LENGTH))
  return `${start > 0 ? '…' : ''}${part}${start + LENGTH < text.length ? '…' : ''}`
}

function show(value: unknown): string {
  if (value === undefined) return '(nothing)'
  const text = JSON.stringify(value)
  return text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text
}
