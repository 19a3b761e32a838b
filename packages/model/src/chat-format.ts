import type {
  AssistantMessage,
  ChatMessage,
  ChatRequest,
  Content,
  ContentPart,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from './chat.js'
import { cutOff } from './failure.js'
import {
  type AddedEvent,
  dataUri,
  type Format,
  type Mapping,
  noteForeignItems,
  type StreamReader,
} from './format.js'
import { type Fields, isObject, parseCompletion, parseJson, reasoningOf, textOfParts } from './response.js'

/** OpenAI's Chat Completions, and every server that speaks it. */
export const chatFormat: Format = {
  path: '/chat/completions',
  list: 'messages',
  toBody,
  read: parseCompletion,
  startStream,
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
    else media.push(...partsOf(mediaIn(message), mapping))
    sent.push(isPlain(message) ? message : messageOf(message, mapping))
  }
  showMedia()
  return sent
}

/** A message without anything of ours is sent as it is. */
function isPlain(message: ChatMessage): boolean {
  return !Array.isArray(message.content) && !OURS.some((field) => field in message)
}

const OURS = ['items', 'is_error', 'prompt_cache']

function messageOf(message: ChatMessage, mapping: Mapping): Fields {
  if (message.role === 'tool') return resultOf(message, mapping)
  return message.role === 'assistant' ? assistantOf(message, mapping) : saidBy(message, mapping)
}

function mediaIn({ content }: ToolMessage): ContentPart[] {
  return typeof content === 'string' ? [] : content.filter(({ type }) => type !== 'text')
}

function resultOf(message: ToolMessage, mapping: Mapping): Fields {
  const { is_error: _, prompt_cache, ...rest } = message
  const texts = typeof rest.content === 'string' ? rest.content : rest.content.map(asText)
  return { ...rest, content: contentOf(texts, prompt_cache, mapping) }
}

/** In the place of an image or a file stands a word. What ends a cacheable prefix is the image itself. */
function asText(part: ContentPart): ContentPart {
  return part.type === 'text' ? part : { type: 'text', text: `[${part.type}: see below]` }
}

function saidBy(message: SystemMessage | UserMessage, mapping: Mapping): Fields {
  const { prompt_cache, ...rest } = message
  return { ...rest, content: contentOf(rest.content, prompt_cache, mapping) }
}

/** With the provider's own fields, such as its reasoning. */
function assistantOf(message: AssistantMessage, mapping: Mapping): Fields {
  const { items, prompt_cache: _, ...rest } = message
  noteForeignItems(items, mapping)
  return rest
}

/** Text stays a string, so that every server accepts it, unless a part of it ends a cacheable prefix. */
function contentOf(content: Content, isLast: boolean | string | undefined, mapping: Mapping): unknown {
  if (typeof content !== 'string') return partsOf(markLast(content, isLast), mapping)
  return isLast && content !== ''
    ? partsOf([{ type: 'text', text: content, prompt_cache: isLast }], mapping)
    : content
}

/** A mark on the message stands on its last part. */
function markLast(parts: readonly ContentPart[], mark: boolean | string | undefined): readonly ContentPart[] {
  const last = parts.at(-1)
  return mark && last ? [...parts.slice(0, -1), { ...last, prompt_cache: mark }] : parts
}

function partsOf(parts: readonly ContentPart[], { blobs }: Mapping): Fields[] {
  return parts.map((part) => {
    const breakpoint = part.prompt_cache ? { prompt_cache_breakpoint: { mode: 'explicit' } } : {}
    if (part.type === 'text') return { type: 'text', text: part.text, ...breakpoint }
    const url = dataUri(part, blobs)
    if (part.type === 'image') return { type: 'image_url', image_url: { url }, ...breakpoint }
    return { type: 'file', file: { filename: part.name ?? 'file', file_data: url }, ...breakpoint }
  })
}

function startStream(): StreamReader {
  const answer: StreamedAnswer = { message: {}, envelope: {}, hasBegun: false }
  return {
    add(event) {
      const { delta, ...rest } = addChunk(answer, event)
      const content = Array.isArray(delta.content) ? textOfParts(delta.content) : delta.content
      const said = { content: typeof content === 'string' ? content : '', reasoning: reasoningOf(delta) }
      return { delta: said, ...rest }
    },
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
}

/** Adds a chunk in place, and returns its piece of the message. Some servers send empty pieces as a sign of life. */
function addChunk(
  answer: StreamedAnswer,
  { choices, usage, ...rest }: Fields,
): AddedEvent & { readonly delta: Fields } {
  answer.envelope = { ...answer.envelope, ...rest, object: 'chat.completion' }
  answer.usage = usage ?? answer.usage
  const list: unknown[] = Array.isArray(choices) ? choices : []
  const choice = list.find((each) => isObject(each) && !each.index) // several choices come interleaved; the first is read
  if (!isObject(choice)) {
    const isLast = answer.finishReason !== undefined && isObject(usage) // [DONE] follows, if the server sends one
    return { delta: {}, isEmpty: true, isLast }
  }
  answer.hasBegun = true
  answer.finishReason = choice.finish_reason || answer.finishReason // some servers send '' with every piece
  const piece = choice.delta ?? choice.message // `message` where the whole answer is one piece
  const { role: _role, ...delta } = isObject(piece) ? piece : {}
  addDelta(answer.message, delta)
  const isSaid = Object.values(delta).some((value) => value !== null && value !== '')
  return { delta, isEmpty: !isSaid && !choice.finish_reason }
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
