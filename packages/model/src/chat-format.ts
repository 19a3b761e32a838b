import {
  type ChatMessage,
  type ChatRequest,
  type ChatResponse,
  type ContentPart,
  isPlain,
  type ModelDelta,
  type ToolMessage,
} from './chat.js'
import { cutOff } from './failure.js'
import {
  type AddedEvent,
  breakpointOf,
  contentOf,
  dataUri,
  type Format,
  isMedia,
  type Mapping,
  noteItems,
  partsOf,
  type StreamReader,
} from './format.js'
import {
  type Fields,
  fieldsOf,
  isObject,
  parseCompletion,
  parseJson,
  reasoningOf,
  textOfParts,
} from './response.js'

/** Chat Completions, which most servers speak. */
export const chatFormat: Format = {
  path: '/chat/completions',
  list: 'messages',
  toBody,
  read,
  startStream,
}

/** Removes fields with our names: other APIs would be sent what stands there. */
function read(answer: unknown): ChatResponse {
  const { message, ...rest } = parseCompletion(answer)
  const { items: _items, iteration: _iteration, prompt_cache: _mark, ...own } = message
  return { message: own, ...rest }
}

function toBody(request: ChatRequest, mapping: Mapping): Fields {
  const streamed = request.stream === true ? { stream_options: { include_usage: true } } : {}
  return { ...streamed, ...request, messages: messagesOf(request.messages, mapping) }
}

/** A result can hold text only. Images and files of the results of one answer follow them, in one message of the user. */
function messagesOf(messages: readonly ChatMessage[], mapping: Mapping): Fields[] {
  const sent: Fields[] = []
  let media: Fields[] = []
  const showMedia = () => {
    if (media.length > 0) sent.push({ role: 'user', content: media })
    media = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') showMedia()
    else media.push(...mediaOf(message, mapping))
    sent.push(messageOf(message, mapping))
  }
  showMedia()
  return sent
}

/** The images and files of a result, behind a text with the id of its call. */
function mediaOf({ tool_call_id: id, content }: ToolMessage, mapping: Mapping): Fields[] {
  if (typeof content === 'string') return []
  const parts = partsOf(content).filter(isMedia)
  if (parts.length === 0) return []
  return [{ type: 'text', text: `[result of ${id}]` }, ...parts.map((part) => partOf(part, mapping))]
}

/**
 * Removes our fields from a message. The order of the others stays. A message without such fields stays the same object, so that
 * its JSON need not be made again.
 */
function messageOf(message: ChatMessage, mapping: Mapping): Fields {
  if (isPlain(message)) return message
  const { items: _items, iteration: _iteration, is_error: _error, prompt_cache, ...rest } = message
  const toPart = (part: ContentPart) => partOf(part, mapping)
  if (message.role === 'assistant') noteItems(message, mapping)
  if (message.role === 'assistant') return rest // with the provider's own fields, such as its reasoning
  if (message.role !== 'tool') return { ...rest, content: contentOf(message, toPart) }
  const content = typeof message.content === 'string' ? message.content : message.content.map(asText)
  return { ...rest, content: contentOf({ content, prompt_cache }, toPart) }
}

/** A word stands in the place of an image or a file. The mark of a cacheable prefix stays with the image itself. */
function asText(part: ContentPart): ContentPart {
  return isMedia(part) ? { type: 'text', text: `[${part.type}: see below]` } : part
}

function partOf(part: ContentPart, { blobs }: Mapping): Fields {
  if (part.type === 'text') return { type: 'text', text: part.text, ...breakpointOf(part) }
  if (!isMedia(part)) return part as Fields // in the API's own words
  const url = dataUri(part, blobs)
  if (part.type === 'image') return { type: 'image_url', image_url: { url }, ...breakpointOf(part) }
  return { type: 'file', file: { filename: part.name ?? 'file', file_data: url }, ...breakpointOf(part) }
}

function startStream(): StreamReader {
  const answer: StreamedAnswer = { message: {}, envelope: {}, hasBegun: false, isSaid: false }
  return {
    add: (event) => addChunk(answer, event),
    soFar: () => (answer.isSaid || answer.usage ? { ...answer.envelope, usage: answer.usage } : undefined),
    end(isDone) {
      const { message, envelope, usage, finishReason, hasBegun } = answer
      if (!hasBegun || (!isDone && finishReason === undefined)) {
        const text = typeof message.content === 'string' ? message.content : undefined
        throw cutOff(text, isDone ? 'no message' : 'no finish_reason and no [DONE]')
      }
      const whole = { content: null, ...message, role: 'assistant' }
      const choices = [{ index: 0, message: whole, finish_reason: finishReason ?? null }]
      return { ...envelope, choices, ...(usage ? { usage } : {}) }
    },
  }
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
  /** True once there is anything in it. */
  isSaid: boolean
}

/** Adds a chunk in place. Some servers send empty pieces as a sign of life. */
function addChunk(answer: StreamedAnswer, { choices, usage, ...rest }: Fields): AddedEvent {
  const tally = { kept: 0, parts: 0 }
  for (const [field, value] of Object.entries(rest)) replace(answer.envelope, field, value, tally)
  answer.envelope.object = 'chat.completion'
  answer.usage = usage ?? answer.usage
  const list: unknown[] = Array.isArray(choices) ? choices : []
  const choice = list.find((each) => isObject(each) && !each.index) // several choices come interleaved; the first is read
  if (!isObject(choice)) {
    const isLast = answer.finishReason !== undefined && isObject(usage) // [DONE] follows, if the server sends one
    return { delta: {}, kind: isLast ? 'last' : 'alive', ...tally }
  }
  answer.hasBegun = true
  answer.finishReason = choice.finish_reason || answer.finishReason // some servers send '' with every piece
  const piece = choice.delta ?? choice.message // `message` where the whole answer is one piece
  const { role: _role, ...delta } = fieldsOf(piece)
  const isSaid = Object.values(delta).some((value) => value !== null && value !== '')
  answer.isSaid ||= isSaid
  const kind =
    choice.finish_reason || isSaid ? (answer.finishReason === undefined ? 'part' : 'whole') : 'alive'
  const said = saidIn(delta)
  grow(answer.message, delta, tally) // which keeps the objects of the piece, and changes them later
  return { delta: said, kind, ...tally }
}

function saidIn(delta: Fields): ModelDelta {
  const content = Array.isArray(delta.content) ? textOfParts(delta.content) : delta.content
  return { content: typeof content === 'string' ? content : '', reasoning: reasoningOf(delta) }
}

/** How many characters and parts a piece adds. */
interface Tally {
  kept: number
  parts: number
}

/** Fields of a listed part whose text comes in pieces; every other field of a part comes whole. */
const PIECEWISE = new Set(['name', 'arguments', 'text', 'summary', 'data', 'thinking', 'content'])

/**
 * Adds one piece to a message or to a part of one, in place.
 *
 * Text in any field of a message is appended, so reasoning is kept under whatever name the provider uses; a field that comes
 * partly as text and partly as a list of parts becomes a list. Numbered parts (`tool_calls`, `reasoning_details`) are matched
 * by `index`. Any other value replaces the one before.
 */
function grow(sum: Fields, piece: Fields, tally: Tally, isText = (_field: string) => true): void {
  for (const [field, value] of Object.entries(piece)) {
    const known = sum[field]
    if (value === null || value === undefined) continue
    if (Array.isArray(value) || Array.isArray(known)) sum[field] = addParts(known, value, tally)
    else if (isObject(known) && isObject(value)) growPart(known, value, tally)
    else if (typeof known === 'string' && typeof value === 'string' && isText(field)) {
      sum[field] = field === 'name' ? joinName(known, value) : known + value
      tally.kept += value.length
    } else if (value !== '' || known === undefined) replace(sum, field, value, tally)
  }
}

/** A server may send its id, or the name of the model, with every piece. */
function replace(sum: Fields, field: string, value: unknown, tally: Tally): void {
  if (value === sum[field]) return
  tally.kept += Math.max(0, lengthOf(value) - lengthOf(sum[field]))
  sum[field] = value
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return value === undefined ? 0 : JSON.stringify(value).length
}

function growPart(part: Fields, piece: Fields, tally: Tally): void {
  grow(part, piece, tally, (field) => PIECEWISE.has(field))
}

function asParts(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  return typeof value === 'string' && value !== '' ? [{ type: 'text', text: value }] : []
}

/** The parts of a list that a piece may continue. */
interface Places {
  readonly byIndex: Map<unknown, Fields>
  readonly byId: Map<unknown, Fields>
  lastCall?: Fields
}

/** The places of each list that grows. Without them a piece would be compared with every part. */
const places = new WeakMap<unknown[], Places>()

function addParts(known: unknown, pieces: unknown, tally: Tally): unknown[] {
  const isGrowing = Array.isArray(known) && places.has(known)
  const list = isGrowing ? known : []
  if (!isGrowing) {
    places.set(list, { byIndex: new Map(), byId: new Map() })
    for (const part of asParts(known)) addPart(list, part, tally)
  }
  for (const piece of asParts(pieces)) addPart(list, piece, tally)
  return list
}

function addPart(list: unknown[], piece: unknown, tally: Tally): void {
  const known = places.get(list)
  const earlier = known && isObject(piece) ? findPart(known, piece) : undefined
  const earlierId = earlier?.id
  if (earlier && isObject(piece)) growPart(earlier, piece, tally)
  else {
    list.push(piece)
    tally.parts++
    tally.kept += lengthOf(piece)
  }
  const part = earlier ?? piece
  if (!known || !isObject(part)) return
  if (earlierId !== part.id) known.byId.delete(earlierId)
  if (part.id) known.byId.set(part.id, part)
  if (!earlier || !known.byIndex.has(part.index)) known.byIndex.set(part.index, part)
  if (isObject(part.function) && part === list.at(-1)) known.lastCall = part
}

/**
 * Some servers give every call the index 0, each with its own name. Some leave out the index and repeat the id; some leave
 * out both, and continue the call they began last.
 */
function findPart({ byIndex, byId, lastCall }: Places, piece: Fields): Fields | undefined {
  const { index, id } = piece
  const sameId = id ? byId.get(id) : undefined
  if (index === undefined || index === null) return id || callOf(piece).name ? sameId : lastCall
  const last = byIndex.get(index)
  if (last === undefined || !isAnotherCall(last, piece)) return last
  return sameId?.index === index ? sameId : undefined
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
  if (typeof text !== 'string') return isObject(text)
  return text.trimEnd().endsWith('}') && isObject(parseJson(text))
}

function callOf({ function: called }: Fields): Fields {
  return fieldsOf(called)
}

/** A name comes once, is repeated with every piece, or comes in pieces like other text. */
function joinName(known: string, piece: string): string {
  if (piece === '' || piece === known) return known
  return piece.startsWith(known) ? piece : known + piece
}
