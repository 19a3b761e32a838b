import type {
  AssistantMessage,
  ChatMessage,
  ChatRequest,
  ChatResponse,
  ContentPart,
  FunctionTool,
  ToolCall,
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
  type Origin,
  type OwnItems,
  ownItems,
  type StreamReader,
  unknownPart,
} from './format.js'
import {
  checkDepth,
  type Fields,
  fieldsOf,
  isObject,
  malformed,
  messageWith,
  replaceLoneSurrogates,
  responseOf,
  spellLoneSurrogates,
} from './response.js'

/** The Responses API. The server keeps nothing: each request holds the whole conversation. */
export const responsesFormat: Format = { path: '/responses', list: 'input', toBody, read, startStream }

function toBody(request: ChatRequest, mapping: Mapping): Fields {
  const { messages, tools, include, ...parameters } = request
  return {
    ...parameters,
    ...(tools && { tools: tools.map(toolOf) }),
    input: inputOf(messages, mapping),
    store: false,
    include: includeOf(include),
  }
}

/** Without its encrypted content a reasoning item cannot come back. A model that cannot encrypt takes `include: null`. */
function includeOf(wanted: unknown): unknown {
  return wanted === null ? null : [...new Set([wanted ?? [], 'reasoning.encrypted_content'].flat())]
}

/** `strict` is always written, because its default is true in this API. */
function toolOf({ type, function: called }: FunctionTool): Fields {
  const { name, description, parameters = null, strict = false, ...rest } = called
  return { type, name, description, parameters, ...rest, strict }
}

function inputOf(messages: readonly ChatMessage[], mapping: Mapping): unknown[] {
  let calls: OwnItems['calls'] = new Map() // those of the newest answer
  return messages.flatMap((message): readonly unknown[] => {
    if (message.role === 'assistant') {
      const own = ownItems(message, ORIGIN, mapping)
      calls = own.calls
      return own.list ? followed(own.list, message, mapping) : spelledOut(message)
    }
    const content = contentOf(message, (part) => partOf(part, mapping))
    if (message.role !== 'tool') return [{ role: message.role, content }]
    const id = message.tool_call_id
    return [{ type: 'function_call_output', call_id: calls.get(id)?.call_id ?? id, output: content }]
  })
}

/** The items of an answer. One that was cut off may end in reasoning, which the API refuses without the item behind it. */
function followed(list: readonly Fields[], message: AssistantMessage, mapping: Mapping): readonly Fields[] {
  const length = list.findLastIndex(({ type }) => type !== 'reasoning') + 1
  if (length < list.length) noteItems(message, mapping, list.length - length)
  return list.slice(0, length)
}

const ORIGIN: Origin = { api: 'responses', isCall }

function isCall(item: unknown): item is Fields {
  return isObject(item) && item.type === 'function_call'
}

function spelledOut({ content, tool_calls = [] }: AssistantMessage): Fields[] {
  const calls = tool_calls.map(({ id, function: { name, arguments: text } }) => {
    return { type: 'function_call', call_id: id, name, arguments: text }
  })
  return content || calls.length === 0 ? [{ role: 'assistant', content: content ?? '' }, ...calls] : calls
}

function partOf(part: ContentPart, { blobs }: Mapping): Fields {
  if (part.type === 'text') return { type: 'input_text', text: part.text, ...breakpointOf(part) }
  if (!isMedia(part)) throw unknownPart(part, 'the Responses API')
  const data = dataUri(part, blobs)
  return part.type === 'image'
    ? { type: 'input_image', detail: 'auto', image_url: data, ...breakpointOf(part) }
    : { type: 'input_file', filename: part.name ?? 'file', file_data: data, ...breakpointOf(part) }
}

/**
 * Reads a response. Its output items are kept as they came, but for lone surrogates, which are treated as in a chat completion.
 * What only a client writes is dropped: sent back, it would be believed as the word of a tool, the user or the developer.
 *
 * @throws {ModelError} `ERR_MODEL_RESPONSE`
 */
function read(value: unknown): ChatResponse {
  checkDepth(value)
  if (!isObject(value) || !Array.isArray(value.output)) throw notResponse('it has no list "output"', value)
  const { status = 'completed', output } = value
  if (status !== 'completed' && status !== 'incomplete') throw notResponse(`its status is "${status}"`, value)
  const list: unknown[] = replaceLoneSurrogates(output.filter(isSpoken).map(spokenParts).map(spellArguments))
  const calls = list.filter(isCall).map(readCall)
  const message = messageWith({ api: ORIGIN.api, list }, textOf(list, 'text'), calls)
  const refusal = textOf(list, 'refusal')
  return responseOf(value, { ...message, ...(refusal && { refusal }) }, reasonOf(value, calls))
}

/** False for an item that only a client writes: the result of a tool, an approval, a message of another role. */
function isSpoken(item: unknown): item is Fields {
  if (!isObject(item)) return false
  const { type, role } = item
  const isOfClient = /_output$|_response$|^item_reference$/.test(String(type))
  return type === 'message' ? role === 'assistant' : role === undefined && !isOfClient
}

/** Removes parts that only a client writes. */
function spokenParts(item: Fields): Fields {
  const isForeign = (part: unknown) => /^(input_|message$)/.test(String(fieldsOf(part).type))
  const fields = ['content', 'summary'].filter(
    (name) => Array.isArray(item[name]) && item[name].some(isForeign),
  )
  if (fields.length === 0) return item
  const kept = fields.map((name) => [name, (item[name] as unknown[]).filter((part) => !isForeign(part))])
  return { ...item, ...Object.fromEntries(kept) }
}

function spellArguments(item: unknown): unknown {
  const text = isCall(item) ? item.arguments : undefined
  return typeof text === 'string' ? { ...(item as Fields), arguments: spellLoneSurrogates(text) } : item
}

function readCall(item: Fields): ToolCall {
  const { call_id: id, name, arguments: text } = item
  if (typeof id !== 'string' || typeof name !== 'string' || typeof text !== 'string')
    throw notResponse('a function_call lacks its call_id, name or arguments', item)
  return { id, type: 'function', function: { name, arguments: text } }
}

/** The text of the messages, or of their refusals: null without a message. Several messages of one answer are paragraphs. */
function textOf(list: readonly unknown[], field: 'text' | 'refusal'): string | null {
  const messages = list.filter(isObject).filter(({ type }) => type === 'message')
  if (messages.length === 0) return null
  const texts = messages.map(({ content }) => {
    const parts = Array.isArray(content) ? content.filter(isObject) : []
    if (typeof content === 'string' && field === 'text') return content
    return parts.map((part) => part[field] ?? '').join('')
  })
  return texts.filter(Boolean).join(PARAGRAPH)
}

/** A response that was cut off has no other reason: its calls may be unfinished. */
function reasonOf({ status, incomplete_details }: Fields, calls: readonly ToolCall[]): string {
  if (status !== 'incomplete') return calls.length > 0 ? 'tool_calls' : 'stop'
  const { reason } = fieldsOf(incomplete_details)
  return typeof reason !== 'string' || reason === 'max_output_tokens' ? 'length' : reason
}

function notResponse(what: string, said: unknown) {
  return malformed(what, said, 'a response that can be used')
}

const PARAGRAPH = '\n\n'

/** Events with a piece of text. A failure that an event tells was thrown before it comes here. */
const PIECES: Readonly<Record<string, 'content' | 'reasoning'>> = {
  'response.output_text.delta': 'content',
  'response.refusal.delta': 'content',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
}

const LAST = /^response\.(completed|incomplete|failed|cancelled)$/
const SIGNS_OF_LIFE = /^(keepalive|ping|response\.(queued|in_progress))$/

/** The last event brings the whole response. What came before is for the screen, and for servers that leave its output empty. */
function startStream(): StreamReader {
  const answer: StreamedResponse = { items: new Map(), places: {}, isSaid: false }
  return {
    add: (event) => addEvent(answer, event),
    soFar: () => answer.whole ?? (answer.isSaid ? {} : undefined),
    end() {
      const { whole, text, items } = answer
      if (!whole) throw cutOff(text, 'no response.completed')
      const done = [...items].sort(([a], [b]) => a - b).map(([, item]) => item)
      const { output } = whole
      return Array.isArray(output) && output.length >= done.length ? whole : { ...whole, output: done }
    },
  }
}

/** The part of a response that has arrived. */
interface StreamedResponse {
  /** The items that are complete, by their index. */
  readonly items: Map<number, unknown>
  /** The part of the response that the newest piece of text belongs to, and the newest piece of reasoning. */
  readonly places: { content?: string; reasoning?: string }
  text?: string
  whole?: Fields
  /** True once a piece of it has come: of a text, of reasoning, of a call. */
  isSaid: boolean
}

function addEvent(answer: StreamedResponse, event: Fields): AddedEvent {
  const { response, item, output_index: index, delta } = event
  const type = String(event.type ?? 'ping')
  const field = PIECES[type]
  answer.isSaid ||= (typeof delta === 'string' && delta !== '') || type === 'response.output_item.done'
  if (field !== undefined && typeof delta === 'string') return addPiece(answer, event, { field, delta })
  if (LAST.test(type) && isObject(response)) {
    answer.whole = response
    return { delta: {}, kind: 'last' }
  }
  if (type === 'response.output_item.done') {
    answer.items.set(Number(index ?? answer.items.size), item)
    return { delta: {}, kind: 'part', parts: 1 }
  }
  return { delta: {}, kind: SIGNS_OF_LIFE.test(type) ? 'alive' : 'part', kept: 0 }
}

/** A piece of another part begins a paragraph. */
function addPiece(
  answer: StreamedResponse,
  { output_index, summary_index }: Fields,
  { field, delta }: { field: 'content' | 'reasoning'; delta: string },
): AddedEvent {
  if (delta === '') return { delta: {}, kind: 'alive', kept: 0 }
  const place = field === 'content' ? `${output_index}` : `${output_index} ${summary_index}`
  const isNext = (answer.places[field] ?? place) !== place
  answer.places[field] = place
  const piece = isNext ? PARAGRAPH + delta : delta
  if (field === 'reasoning') return { delta: { reasoning: piece }, kind: 'part', kept: 0 }
  answer.text = (answer.text ?? '') + piece
  return { delta: { content: piece }, kind: 'part', kept: piece.length }
}
