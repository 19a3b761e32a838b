import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChatResponse, ModelDelta } from './chat.js'
import { LONGEST_TIMER_MS } from './errors.js'
import { type Asked, inlineError, notAnEvent, notJson, notUtf8, tooMuch, unreadableBody } from './failure.js'
import type { AddedEvent, Format } from './format.js'
import {
  charge,
  chargeUnknown,
  checkDepth,
  type Fields,
  hasTooManyValues,
  isObject,
  MOST_VALUES,
  mapStrings,
  parseJson,
  reasoningOf,
} from './response.js'

/** Ends a request when the server is silent for too long. */
export type IdleTimer = ReturnType<typeof startIdleTimer>

/** Joins a caller's signal with a limit on how long the server may send nothing, in milliseconds; 0 is no limit. */
export function startIdleTimer(timeoutMs: number, outer: AbortSignal | undefined) {
  const idle = new AbortController()
  const expire = () => idle.abort()
  let timer = setTimeout(expire, Math.min(timeoutMs || LONGEST_TIMER_MS, LONGEST_TIMER_MS))
  return {
    signal: outer ? AbortSignal.any([outer, idle.signal]) : idle.signal,
    hasExpired: () => idle.signal.aborted,
    /** Restarts the time: a part of the answer arrived. */
    onBytes: () => void timer.refresh(),
    /** Leaves less time for what follows a complete answer. */
    shortenTo(ms: number) {
      clearTimeout(timer)
      timer = setTimeout(expire, Math.min(ms, timeoutMs || ms))
    },
    stop: () => clearTimeout(timer),
  }
}

/** A request that is under way. */
export interface Exchange {
  readonly asked: Asked
  readonly timer: IdleTimer
  readonly format: Format
  readonly onDelta: (delta: ModelDelta) => void
}

type Parts = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/**
 * Reads an answer with status 2xx to its end, streamed or whole.
 *
 * @throws {ModelError} `ERR_MODEL_CONNECTION`: it broke off. `ERR_MODEL_RESPONSE`: it is not a completion. Any other code: the
 *   error that the server sent instead.
 */
export async function readAnswer({ headers, body }: Response, exchange: Exchange): Promise<ChatResponse> {
  const parts: Parts = body ?? []
  // some servers stream whether they were asked to or not
  if (headers.get('content-type')?.startsWith('text/event-stream')) return readStream(parts, exchange)

  const { asked, onDelta } = exchange
  const bytes = await readWhole(parts, exchange).catch((error: unknown) => {
    throw unreadableBody(error, asked)
  })
  if (EVENTS.test(bytes.toString('latin1', 0, 200))) return readStream([bytes], exchange)
  const value = parseBody(bytes, asked)
  try {
    if (isObject(value)) checkFailure(value, asked)
    const response = readWithoutKey(value, exchange)
    onDelta({ content: response.message.content ?? '', reasoning: reasoningOf(response.message) })
    return response
  } catch (error) {
    throw charge(error, value, asked.hide)
  }
}

/** @throws {ModelError} What a server sent is an error. */
function checkFailure(said: Fields, asked: Asked): void {
  const failure = inlineError(said, asked)
  if (failure) throw failure
}

/** A stream may bring the key in pieces, so its answer is searched once they are together. */
function readWithoutKey(answer: unknown, { asked, format }: Exchange): ChatResponse {
  checkDepth(answer)
  return format.read(mapStrings(answer, asked.hide))
}

/** The start of an event stream, which some gateways send with another content type. */
const EVENTS = /^(\xef\xbb\xbf)?\s*(:|(event|data|id|retry):)/

/** White space in JSON is this byte or a smaller one; some servers send it as a sign of life. */
const SPACE = 0x20

async function readWhole(parts: Parts, { asked, timer }: Exchange): Promise<Buffer> {
  const all: Uint8Array[] = []
  let length = 0
  for await (const part of parts) {
    if (part.some((byte) => byte > SPACE)) timer.onBytes()
    length += part.length
    if (length > MAX_LENGTH) throw tooMuch(TOO_LONG, asked)
    all.push(part)
  }
  return Buffer.concat(all)
}

/** A longer answer would exhaust the memory, and no model writes one. Bytes of a whole answer, kept characters of a stream. */
const MAX_LENGTH = 64 * 1024 * 1024
const TOO_LONG = 'It is longer than 64 MiB.'

/** Some servers begin a part with each piece, and a long answer has 128,000 tokens. */
const MOST_PARTS = 200_000
/** Characters that each event counts at least, so that an endless stream of empty events ends, too. */
const COST_OF_EVENT = 16

/** Returns what counts an event of a stream, and throws once there is too much. */
function startLimit(asked: Asked): (event: AddedEvent, length: number) => void {
  let kept = 0
  let parts = 0
  return (event, length) => {
    kept += COST_OF_EVENT + (event.kept ?? length)
    parts += event.parts ?? 0
    if (kept > MAX_LENGTH) throw tooMuch(TOO_LONG, asked)
    if (parts > MOST_PARTS) throw tooMuch(`It has more than ${MOST_PARTS} parts.`, asked)
  }
}

function parseBody(bytes: Buffer, asked: Asked): unknown {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw notUtf8(asked, cause)
  }
  const value = parseJson(text)
  if (value !== undefined) return value
  throw hasTooManyValues(text) ? tooMuch(TOO_MANY_VALUES, asked) : notJson(text, asked)
}

const TOO_MANY_VALUES = `It has more than ${MOST_VALUES} values.`

/**
 * Reads a stream to its end. An answer that is whole waits for its counts, for five seconds of silence at most. After its last event
 * the rest is still read, so that the connection can be reused, but for a second at most. An error in either does not invalidate it.
 */
async function readStream(parts: Parts, exchange: Exchange): Promise<ChatResponse> {
  const { asked, timer, format, onDelta } = exchange
  const answer = format.startStream()
  const charged = (error: unknown) => {
    const soFar = answer.soFar()
    return soFar === undefined ? error : chargeUnknown(charge(error, soFar, asked.hide))
  }
  const limit = startLimit(asked)
  const pause = startPauses(timer.signal)
  let state: 'open' | 'whole' | 'over' = 'open'
  let isDone = false
  try {
    for await (const data of readEvents(parts, asked)) {
      await pause()
      if (state === 'over') continue
      if (data.trim() === '[DONE]') {
        isDone = true
        state = 'over'
        timer.shortenTo(1000)
        continue
      }
      const event = parseEvent(data, asked)
      if (!event) continue
      const added = answer.add(event)
      limit(added, data.length)
      onDelta(added.delta)
      if (added.kind === 'last') {
        state = 'over'
        timer.shortenTo(1000)
      } else if (added.kind === 'whole' && state === 'open') {
        state = 'whole'
        timer.shortenTo(5000)
      } else if (added.kind !== 'alive') timer.onBytes()
    }
  } catch (error) {
    if (state === 'open') throw charged(error)
  }
  try {
    return readWithoutKey(answer.end(isDone), exchange)
  } catch (error) {
    throw charged(error)
  }
}

/**
 * An event of a stream; undefined for one that says nothing.
 *
 * @throws {ModelError} It is not JSON, or it is an error.
 */
function parseEvent(data: string, asked: Asked): Fields | undefined {
  if (data.trim() === '') return undefined
  const event = parseJson(data)
  if (event === undefined)
    throw hasTooManyValues(data) ? tooMuch(TOO_MANY_VALUES, asked) : notAnEvent(data, asked)
  if (!isObject(event)) return undefined
  try {
    checkFailure(event, asked)
  } catch (error) {
    throw charge(error, event.response ?? event, asked.hide)
  }
  return event
}

/**
 * Lets signals and timers through now and then: while events arrive faster than they are handled, these wait for the event loop.
 *
 * @returns What to await before each event. Rejects once the signal is aborted.
 */
function startPauses(signal: AbortSignal): () => Promise<void> {
  let workedSince = performance.now()
  return async () => {
    if (performance.now() - workedSince < LONGEST_WORK_MS) return
    await nextTurn()
    signal.throwIfAborted()
    workedSince = performance.now()
  }
}

const LONGEST_WORK_MS = 50

/**
 * The data of each event in a stream.
 *
 * @throws {ModelError} `ERR_MODEL_CONNECTION`: it broke off. `ERR_MODEL_RESPONSE`: it is not UTF-8, or an event is too long.
 */
async function* readEvents(parts: Parts, asked: Asked): AsyncGenerator<string> {
  const { createParser } = await import('eventsource-parser')
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let found: string[] = []
  const parser = createParser({
    onEvent: ({ data }) => void found.push(data),
    maxBufferSize: MAX_LENGTH,
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw tooMuch(TOO_LONG, asked)
    },
  })
  try {
    for await (const part of parts) {
      parser.feed(decoder.decode(part, { stream: true }))
      const events = found
      found = []
      yield* events
    }
    parser.feed(`${decoder.decode()}\n\n`) // some servers do not close their last event
  } catch (error) {
    throw error instanceof TypeError ? notUtf8(asked, error) : unreadableBody(error, asked)
  }
  yield* found
}
