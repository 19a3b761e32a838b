import type {
  AssistantMessage,
  BlobReader,
  ChatMessage,
  ChatRequest,
  ChatResponse,
  FunctionTool,
  SystemMessage,
  ToolCall,
  ToolMessage,
} from './chat.js'
import { textOf } from './chat.js'
import {
  base64Of,
  type Format,
  isMedia,
  type Mapping,
  type Mark,
  type Media,
  markLast,
  type Origin,
  type OwnItems,
  ownItems,
  partsOf,
  type Said,
  unknownPart,
} from './format.js'
import { startStream } from './messages-stream.js'
import {
  checkDepth,
  type Fields,
  fieldsOf,
  isObject,
  malformed,
  messageWith,
  parseJson,
  reasoningOfBlock,
  replaceLoneSurrogates,
  responseOf,
} from './response.js'

/** The Messages API. */
export const messagesFormat: Format = { path: '/v1/messages', list: 'messages', toBody, read, startStream }

function toBody({ messages, tools, ...parameters }: ChatRequest, mapping: Mapping): Fields {
  const found = messages.findIndex((message) => !isSystem(message))
  const start = found === -1 ? messages.length : found
  const system = messages
    .slice(0, start)
    .filter(isSystem)
    .flatMap((message) => blocksOf(message, mapping))
  return {
    ...parameters,
    ...(system.length > 0 && { system }),
    ...(tools && { tools: tools.map(toolOf) }),
    messages: turnsOf(messages.slice(start), mapping),
  }
}

function isSystem(message: ChatMessage): message is SystemMessage {
  return message.role === 'system' || message.role === 'developer'
}

function toolOf({ function: { name, description, parameters, strict } }: FunctionTool): Fields {
  return { name, description, input_schema: parameters ?? { type: 'object', properties: {} }, strict }
}

/** The roles take turns: messages of one side that follow each other are one, so all results of an answer are together. */
function turnsOf(messages: readonly ChatMessage[], mapping: Mapping): Fields[] {
  const turns: { role: string; content: unknown[] }[] = []
  let own: OwnItems = { calls: new Map() }
  for (const message of messages) {
    if (message.role === 'assistant') own = ownItems(message, ORIGIN, mapping)
    const content = contentOf(message, own, mapping)
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const last = turns.at(-1)
    if (last?.role === role) {
      for (const block of content) last.content.push(block) // as arguments, too many would overflow the stack
    } else if (content.length > 0) turns.push({ role, content })
  }
  return turns
}

const ORIGIN: Origin = { api: 'messages', isCall: isToolUse }

/** @param own - The blocks of this message, or of the answer before it. */
function contentOf(message: ChatMessage, own: OwnItems, mapping: Mapping): unknown[] {
  if (message.role === 'assistant') return saidBy(message, own)
  if (message.role === 'tool') return [resultOf(message, own, mapping)]
  if (!isSystem(message)) return blocksOf(message, mapping)
  const marked = partsOf(message.content).findLast((part) => part.prompt_cache)
  const text = textOf(message.content)
  const mark = message.prompt_cache || marked?.prompt_cache
  return text.trim() === '' ? [] : [textBlock(`<system>${text}</system>`, mark)]
}

/** The blocks of an answer of this API go back as they came. It refuses a blank text, although it may write one. */
function saidBy(message: AssistantMessage, { list }: OwnItems): Fields[] {
  const blocks = list?.filter((block) => !isBlankText(block)) ?? spelledOut(message)
  const last = blocks.at(-1)
  const isRefused = last === undefined || reasoningOfBlock(last) !== undefined // it is empty, or ends in thinking
  return isRefused ? [...blocks, textBlock('(no text)')] : blocks
}

function spelledOut({ content, tool_calls = [] }: AssistantMessage): Fields[] {
  const calls = tool_calls.map((call) => ({
    type: 'tool_use',
    id: sendableId(call.id),
    name: call.function.name,
    input: inputOf(call.function.arguments),
  }))
  return (content ?? '').trim() === '' ? calls : [textBlock(content ?? ''), ...calls]
}

/** This API refuses characters that other servers use in ids. */
function sendableId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, '_')
}

/** The API takes an object, and a model may write anything. */
function inputOf(text: string): Fields {
  const input = text.trim() === '' ? {} : parseJson(text)
  return isObject(input) ? input : { malformed_arguments: text }
}

function resultOf(message: ToolMessage, { calls }: OwnItems, mapping: Mapping): Fields {
  const { tool_call_id: id, content, is_error, prompt_cache } = message
  const said = typeof content === 'string' ? content.trim() && content : blocksOf({ content }, mapping)
  const isText = typeof content === 'string' || !content.some(isMedia) // the API refuses a failed result with an image
  return {
    type: 'tool_result',
    tool_use_id: calls.get(id)?.id ?? sendableId(id),
    ...(said.length > 0 && { content: said }),
    ...(is_error && isText && { is_error }),
    ...cacheControl(prompt_cache),
  }
}

/** A mark on the message stands on its last part that is sent. A blank text is not sent. */
function blocksOf({ content, prompt_cache }: Said, { blobs }: Mapping): Fields[] {
  const sent = partsOf(content).filter((part) => !isBlankText(part))
  return markLast(sent, prompt_cache).map((part) => {
    if (part.type === 'text') return textBlock(part.text, part.prompt_cache)
    if (!isMedia(part)) throw unknownPart(part, 'the Messages API')
    return { ...mediaBlock(part, blobs), ...cacheControl(part.prompt_cache) }
  })
}

function isBlankText({ type, text }: { type?: unknown; text?: unknown }): boolean {
  return type === 'text' && typeof text === 'string' && text.trim() === ''
}

function textBlock(text: string, mark?: Mark): Fields {
  return { type: 'text', text, ...cacheControl(mark) }
}

function cacheControl(mark: Mark): Fields {
  if (!mark) return {}
  return { cache_control: { type: 'ephemeral', ...(typeof mark === 'string' && { ttl: mark }) } }
}

const IMAGES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])
/** The API refuses a request with a larger one, and so all that follow. */
const MOST_PIXELS_A_SIDE = 8000

/** A text says what stood there where the API cannot read it. */
function mediaBlock(part: Media, blobs: BlobReader): Fields {
  const { type, media_type, bytes, name, width = 0, height = 0 } = part
  const title = name || undefined // an empty one is refused
  const isPdf = media_type === 'application/pdf'
  const isImage = IMAGES.has(media_type) && Math.max(width, height) <= MOST_PIXELS_A_SIDE
  if (isImage || isPdf) {
    const source = { type: 'base64', media_type, data: base64Of(part, blobs) }
    return isPdf ? { type: 'document', source, title } : { type: 'image', source }
  }
  const text = media_type.startsWith('text/') ? Buffer.from(blobs(part.blob)).toString('utf8') : ''
  if (text.trim() !== '')
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, title }
  return textBlock(`[${title ?? type}: ${media_type}, ${bytes} bytes, which this API cannot read]`)
}

function isToolUse(block: unknown): block is Fields {
  return isObject(block) && block.type === 'tool_use'
}

/**
 * Reads a message of the API. Its blocks are kept in `items`. Two changes let them be sent back: lone surrogates become replacement
 * characters, and input that is not JSON, because the model or the end of the answer broke it, becomes an object.
 */
function read(value: unknown): ChatResponse {
  checkDepth(value)
  const { content, stop_reason } = fieldsOf(value)
  if (!Array.isArray(content)) throw notMessage('it has no content', value)
  for (const block of content) checkBlock(block)
  const texts = content.filter(isObject).filter(({ type }) => type === 'text')
  const calls = content.filter(isToolUse).map(callOf)
  if (stop_reason === 'tool_use' && calls.length === 0)
    throw notMessage('its stop_reason is "tool_use", and it has no such block', value)
  const text = texts.length === 0 ? null : texts.map(({ text }) => text).join('')
  const message = messageWith({ api: ORIGIN.api, list: content.map(withInput) }, text, calls)
  const reason = typeof stop_reason === 'string' ? (REASONS[stop_reason] ?? stop_reason) : undefined
  return responseOf(value, replaceLoneSurrogates(message), reason)
}

const REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
}

function checkBlock(block: unknown): void {
  if (!isObject(block) || typeof block.type !== 'string') throw notMessage('a block of it has no type', block)
  if (block.type === 'text' && typeof block.text !== 'string') throw notMessage('a text is no string', block)
  if (block.type !== 'tool_use') return
  if (typeof block.id !== 'string' || typeof block.name !== 'string')
    throw notMessage('a call has no id or no name', block)
}

/**
 * Input that is not an object stays as it was written, so that the call is refused. A number beyond 2^53 lost digits when it was read; a
 * call with one is refused, too, and the model can send it as a string.
 */
function callOf({ id, name, input }: Fields): ToolCall {
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {})
  return { id: String(id), type: 'function', function: { name: String(name), arguments: text } }
}

function withInput(block: Fields): Fields {
  return typeof block.input === 'string' ? { ...block, input: { malformed_arguments: block.input } } : block
}

function notMessage(what: string, said: unknown) {
  return malformed(what, said, 'a message of the Messages API')
}
