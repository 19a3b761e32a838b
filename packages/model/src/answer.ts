import type { ChatResponse, ModelDelta } from './chat.js'
import { LONGEST_TIMER_MS } from './errors.js'
import { type Asked, cutOff, inlineError, notAnEvent, notJson, notUtf8, unreadableBody } from './failure.js'
import { type Fields, isObject, parseCompletion, parseJson, reasoningOf, textOfParts } from './response.js'

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
      timer = setTimeout(expire, ms)
    },
    stop: () => clearTimeout(timer),
  }
}

/** One request, and what is called while its answer is read. */
export interface Exchange {
  readonly asked: Asked
  readonly timer: IdleTimer
  /** Called with each piece of text, and of reasoning. */
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

  const { asked, timer, onDelta } = exchange
  const bytes = await readWhole(parts, timer).catch((error: unknown) => {
    throw unreadableBody(error, asked)
  })
  if (EVENTS.test(bytes.toString('latin1', 0, 200))) return readStream([bytes], exchange)
  const value = parseBody(bytes, asked)
  const failure = isObject(value) && inlineError(value, asked)
  if (failure) throw failure
  const response = parseCompletion(value)
  onDelta({ content: response.message.content ?? '', reasoning: reasoningOf(response.message) })
  return response
}

/** The start of an event stream, which some gateways send with another content type. */
const EVENTS = /^\s*(:|event:|data:)/

/** White space in JSON is this byte or a smaller one; some servers send it as a sign of life. */
const SPACE = 0x20

async function readWhole(parts: Parts, timer: IdleTimer): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const part of parts) {
    if (part.some((byte) => byte > SPACE)) timer.onBytes()
    all.push(part)
  }
  return Buffer.concat(all)
}

function parseBody(bytes: Buffer, asked: Asked): unknown {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw notUtf8(asked, cause)
  }
  const value = parseJson(text)
  if (value === undefined) throw notJson(text, asked)
  return value
}

/**
 * `[DONE]` or a `finish_reason` ends an answer; without either it was cut. After `[DONE]` the rest is still read, so that the
 * connection can be reused, but an error there does not invalidate the answer.
 */
async function readStream(parts: Parts, { asked, timer, onDelta }: Exchange): Promise<ChatResponse> {
  const answer: StreamedAnswer = { message: {}, envelope: {}, hasBegun: false }
  let done = false
  try {
    for await (const data of readEvents(parts, asked)) {
      if (done || data.trim() === '') continue
      if (data.trim() === '[DONE]') {
        done = true
        timer.shortenTo(1000)
        continue
      }
      const chunk = parseJson(data)
      if (chunk === undefined) throw notAnEvent(data)
      if (!isObject(chunk)) continue
      const failure = inlineError(chunk, asked)
      if (failure) throw failure
      const { delta, isEmptyPiece } = addChunk(answer, chunk)
      if (!isEmptyPiece) timer.onBytes()
      const content = Array.isArray(delta.content) ? textOfParts(delta.content) : delta.content
      onDelta({ content: typeof content === 'string' ? content : '', reasoning: reasoningOf(delta) })
    }
  } catch (error) {
    if (!done) throw error
  }
  const { message, envelope, usage, finishReason } = answer
  if (!answer.hasBegun || (!done && finishReason === undefined)) {
    throw cutOff(typeof message.content === 'string' ? message.content : undefined, done)
  }
  const whole = { content: null, ...message, role: 'assistant' }
  const choices = [{ index: 0, message: whole, finish_reason: finishReason ?? null }]
  return parseCompletion({ ...envelope, choices, ...(usage ? { usage } : {}) })
}

/**
 * The data of each event in a stream.
 *
 * @throws {ModelError} `ERR_MODEL_CONNECTION`: it broke off. `ERR_MODEL_RESPONSE`: it is not UTF-8.
 */
async function* readEvents(parts: Parts, asked: Asked): AsyncGenerator<string> {
  const { createParser } = await import('eventsource-parser')
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let found: string[] = []
  const parser = createParser({ onEvent: ({ data }) => void found.push(data) })
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

/** The part of a completion that has arrived. */
interface StreamedAnswer {
  message: Fields
  /** The fields beside the choices. */
  envelope: Fields
  usage?: unknown
  finishReason?: unknown
  /** True once any part of a message has arrived. */
  hasBegun: boolean
}

/** Adds a chunk in place, and returns its piece of the message. Some servers send empty pieces as a sign of life. */
function addChunk(answer: StreamedAnswer, { choices, usage, ...rest }: Fields) {
  answer.envelope = { ...answer.envelope, ...rest, object: 'chat.completion' }
  answer.usage = usage ?? answer.usage
  const list: unknown[] = Array.isArray(choices) ? choices : []
  const choice = list.find((each) => isObject(each) && !each.index) // several choices come interleaved; the first is read
  if (!isObject(choice)) return { delta: {}, isEmptyPiece: true }
  answer.hasBegun = true
  answer.finishReason = choice.finish_reason || answer.finishReason // some servers send '' with every piece
  const piece = choice.delta ?? choice.message // `message` where the whole answer is one piece
  const { role: _role, ...delta } = isObject(piece) ? piece : {}
  addDelta(answer.message, delta)
  const isSaid = Object.values(delta).some((value) => value !== null && value !== '')
  return { delta, isEmptyPiece: !isSaid && !choice.finish_reason }
}

/** Fields of a listed part whose text comes in pieces; every other field of a part comes whole. */
const PIECEWISE = new Set(['arguments', 'text', 'summary', 'data', 'thinking', 'content'])

/**
 * Adds one piece to a message, in place.
 *
 * Text in any field is appended, so reasoning is kept under whatever name the provider uses; a field that comes partly as
 * text and partly as a list of parts becomes a list. Numbered parts (`tool_calls`, `reasoning_details`) are matched by
 * `index`. Any other value replaces the one before.
 */
function addDelta(message: Fields, delta: Fields): void {
  for (const [field, piece] of Object.entries(delta)) {
    const known = message[field]
    if (piece === null || piece === undefined) continue
    if (Array.isArray(piece) || Array.isArray(known))
      message[field] = asParts(piece).reduce(addPart, [...asParts(known)])
    else if (typeof piece === 'string' && typeof known === 'string') message[field] = known + piece
    else message[field] = piece
  }
}

function asParts(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  return typeof value === 'string' && value !== '' ? [{ type: 'text', text: value }] : []
}

function addPart(parts: unknown[], piece: unknown): unknown[] {
  const at = isObject(piece) ? parts.findLastIndex((part) => isObject(part) && isSamePart(part, piece)) : -1
  const part = parts[at]
  return isObject(part) && isObject(piece) ? parts.with(at, addToPart(part, piece)) : [...parts, piece]
}

/**
 * Some servers give every call the index 0, each with its own name. Some leave out the index and repeat the id; some leave
 * out both, and continue the call they began last.
 */
function isSamePart(part: Fields, piece: Fields): boolean {
  if (piece.index !== undefined && piece.index !== null)
    return part.index === piece.index && !isAnotherCall(part, piece)
  if (piece.id) return part.id === piece.id
  return isObject(part.function) && !callOf(piece).name
}

/** A new id alone proves nothing: some servers make one up for every piece. */
function isAnotherCall(part: Fields, piece: Fields): boolean {
  if (!callOf(piece).name || (piece.id && part.id === piece.id)) return false
  if (part.id && piece.id) return true
  const { arguments: text } = callOf(piece)
  const beginsObject = isObject(text) || (typeof text === 'string' && /^\s*\{/.test(text))
  return beginsObject && isWhole(callOf(part).arguments)
}

/** The arguments are complete JSON, so a further brace cannot continue them. */
function isWhole(text: unknown): boolean {
  return isObject(typeof text === 'string' ? parseJson(text) : text)
}

function callOf({ function: called }: Fields): Fields {
  return isObject(called) ? called : {}
}

function addToPart(part: Fields, piece: Fields): Fields {
  const sum = { ...part }
  for (const [field, value] of Object.entries(piece)) {
    const known = sum[field]
    if (value === null || value === undefined) continue
    if (isObject(known) && isObject(value)) sum[field] = addToPart(known, value)
    else if (field === 'name' && typeof known === 'string' && typeof value === 'string')
      sum[field] = joinName(known, value)
    else if (PIECEWISE.has(field) && typeof known === 'string' && typeof value === 'string')
      sum[field] = known + value
    else if (value !== '' || known === undefined) sum[field] = value
  }
  return sum
}

/** A name comes once, is repeated with every piece, or comes in pieces like other text. */
function joinName(known: string, piece: string): string {
  if (piece === '' || piece === known) return known
  return piece.startsWith(known) ? piece : known + piece
}
