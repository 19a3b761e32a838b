import { isUtf8 } from 'node:buffer'
import type { ChatResponse, ModelDelta } from './chat.js'
import { cutOff, inlineError, notJson, notUtf8, unreadableBody } from './failure.js'
import type { Asked } from './failure-kind.js'
import { checkDepth, isObject } from './json.js'
import { parseCompletion, reasoningOf } from './response.js'
import type { SilenceWatch } from './silence.js'
import { bringsSomething, collectAnswer } from './stream.js'

/** One request, and what to call while its answer is read. */
export interface Exchange {
  readonly asked: Asked
  readonly watch: SilenceWatch
  /** Called with each piece of text, and of reasoning. */
  readonly onDelta: (delta: ModelDelta) => void
}

/** Reads the chunks from the bytes of an event stream. */
type ReadChunks = (events: AsyncIterable<Uint8Array>) => AsyncIterable<unknown>

/**
 * Reads an answer with 2xx to its end, streamed or whole.
 *
 * @throws {ModelError} `ERR_MODEL_CONNECTION`: it broke off. `ERR_MODEL_RESPONSE`: it is not a completion. Or the error that
 *   the server sent in place of one.
 */
export async function readAnswer(
  { headers, body }: Response,
  exchange: Exchange,
  chunks: ReadChunks,
): Promise<ChatResponse> {
  const parts = body ?? none()
  // some servers stream whether they were asked to or not
  if (headers.get('content-type')?.startsWith('text/event-stream')) return readStream(parts, exchange, chunks)

  const { asked, watch, onDelta } = exchange
  const bytes = await readWhole(parts, watch).catch((error: unknown) => {
    throw unreadableBody(error, asked)
  })
  if (EVENTS.test(bytes.toString('latin1', 0, 200))) return readStream(only(bytes), exchange, chunks)
  const response = parseCompletion(parseBody(bytes, asked))
  onDelta({ content: response.message.content ?? '', reasoning: reasoningOf(response.message) })
  return response
}

/** The start of an event stream, which some gateways send with another content type. */
const EVENTS = /^\s*(:|event:|data:)/

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* none(): AsyncGenerator<Uint8Array> {}

/** White space in JSON is this byte or a smaller one; some servers send it as a sign of life. */
const SPACE = 0x20

async function readWhole(parts: AsyncIterable<Uint8Array>, { heard }: SilenceWatch): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const part of parts) {
    if (part.some((byte) => byte > SPACE)) heard()
    all.push(part)
  }
  return Buffer.concat(all)
}

/** What a server says of an error is no longer than this. */
const MAX_TEXT_BYTES = 1024 * 1024

/** The body as text for people: only its beginning when it is long, and only what came when the connection breaks. */
export async function beginningOf({ body }: Response): Promise<string> {
  const all: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of body ?? none()) {
      all.push(part)
      length += part.length
      if (length > MAX_TEXT_BYTES) break
    }
  } catch {
    // the status says what happened; the explanation may be incomplete
  }
  return Buffer.concat(all).toString('utf8')
}

/** Some servers send one first. */
const BYTE_ORDER_MARK = /^\uFEFF/

function parseBody(bytes: Buffer, asked: Asked): unknown {
  const text = bytes.toString('utf8').replace(BYTE_ORDER_MARK, '')
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw notJson(text, asked, cause)
  }
  if (!isUtf8(bytes)) throw notUtf8(asked)
  checkDepth(body)
  const failure = inlineError((body ?? {}) as Record<string, unknown>, asked)
  if (failure) throw failure
  return body
}

/** `[DONE]` or a `finish_reason` ends an answer; without either it was cut. */
async function readStream(
  parts: AsyncIterable<Uint8Array>,
  { asked, watch, onDelta }: Exchange,
  chunks: ReadChunks,
): Promise<ChatResponse> {
  const answer = collectAnswer()
  let done = false
  const onDone = () => {
    done = true
    watch.hurry()
  }
  for await (const chunk of chunks(eventBytes(parts, asked, onDone))) {
    if (!isObject(chunk)) continue
    checkDepth(chunk)
    const failure = inlineError(chunk, asked)
    if (failure) throw failure
    const delta = answer.add(chunk)
    if (bringsSomething(chunk)) watch.heard()
    onDelta(delta)
  }
  if (!answer.hasBegun || (!done && !answer.hasEnded)) throw cutOff(answer.text, done)
  return parseCompletion(answer.completion())
}

const DONE = /[\r\n]data: ?\[DONE\]/

/**
 * The bytes of an event stream. After `[DONE]` the rest is still read, so that the connection can be reused, but an error
 * there does not invalidate the answer.
 *
 * @throws {ModelError} `ERR_MODEL_CONNECTION`: it broke off. `ERR_MODEL_RESPONSE`: it is not UTF-8.
 */
async function* eventBytes(
  parts: AsyncIterable<Uint8Array>,
  asked: Asked,
  onDone: () => void,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let end = '\n' // of the text so far: `[DONE]` may come in pieces
  let done = false
  try {
    for await (const part of parts) {
      if (done) continue
      const text = end + decoder.decode(part, { stream: true })
      done = DONE.test(text)
      end = text.slice(-20)
      if (done) onDone()
      yield part
    }
    if (!done) decoder.decode()
  } catch (error) {
    if (!done) throw error instanceof TypeError ? notUtf8(asked, error) : unreadableBody(error, asked)
  }
  yield Buffer.from('\n\n') // some servers do not close their last event
}
