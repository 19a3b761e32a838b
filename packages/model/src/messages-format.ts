import type {
  AssistantMessage,
  CacheBreakpoint,
  ChatMessage,
  ChatRequest,
  ChatResponse,
  Content,
  ContentPart,
  FunctionTool,
  SystemMessage,
  ToolCall,
  ToolMessage,
} from './chat.js'
import { textOf } from './chat.js'
import { base64Of, type Format, type Mapping, type Media, noteForeignItems } from './format.js'
import { startStream } from './messages-stream.js'
import { checkDepth, type Fields, isObject, malformed, parseJson, replaceLoneSurrogates } from './response.js'

/** Anthropic's Messages. */
export const messagesFormat: Format = { path: '/v1/messages', list: 'messages', toBody, read, startStream }

function toBody({ messages, tools, ...parameters }: ChatRequest, mapping: Mapping): Fields {
  const found = messages.findIndex((message) => !isSystem(message))
  const start = found === -1 ? messages.length : found
  const system = messages
    .slice(0, start)
    .flatMap((message) => blocksOf(message.content ?? '', message, mapping))
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
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: parameters ?? { type: 'object', properties: {} },
    ...(strict !== undefined && { strict }),
  }
}

/** The roles take turns: messages of one side that follow each other are one, so all results of an answer are together. */
function turnsOf(messages: readonly ChatMessage[], mapping: Mapping): Fields[] {
  const turns: { role: string; content: unknown[] }[] = []
  let ids = new Map<string, string>()
  for (const message of messages) {
    if (message.role === 'assistant') ids = idsOf(message)
    const content = contentOf(message, ids, mapping)
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else if (content.length > 0) turns.push({ role, content })
  }
  return turns
}

function contentOf(message: ChatMessage, ids: ReadonlyMap<string, string>, mapping: Mapping): unknown[] {
  if (message.role === 'assistant') return saidBy(message, mapping)
  if (message.role === 'tool') return [resultOf(message, ids, mapping)]
  if (!isSystem(message)) return blocksOf(message.content, message, mapping)
  const marked = typeof message.content === 'string' ? [] : message.content
  const prompt_cache = message.prompt_cache || marked.findLast((part) => part.prompt_cache)?.prompt_cache
  const text = textOf(message.content)
  return text.trim() === '' ? [] : [textBlock(`<system>${text}</system>`, prompt_cache)]
}

/** The blocks of an answer of this API go back as they came. It refuses a blank text, although it may write one. */
function saidBy(message: AssistantMessage, mapping: Mapping): unknown[] {
  const own = ownBlocks(message)
  if (!own) noteForeignItems(message.items, mapping)
  noteForeignFields(message, mapping)
  const blocks = own?.filter((block) => !isBlankText(block)) ?? spelledOut(message)
  const isSaid = blocks.some((block) => isObject(block) && !isThinking(block))
  return isSaid ? blocks : [...blocks, textBlock('(no text)')] // it refuses an answer that is empty, or ends in thinking
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

/** Undefined where this API did not make the answer, or where its calls were changed since: each must get its result. */
function ownBlocks({ items, tool_calls = [] }: AssistantMessage): readonly unknown[] | undefined {
  if (items?.api !== 'messages') return undefined
  return items.list.filter(isToolUse).length === tool_calls.length ? items.list : undefined
}

/** By the id of a call in the conversation, the id that the API knows it by. */
function idsOf(message: AssistantMessage): Map<string, string> {
  const uses = ownBlocks(message)?.filter(isToolUse) ?? []
  const calls = message.tool_calls ?? []
  return new Map(calls.map(({ id }, index) => [id, String(uses[index]?.id ?? sendableId(id))]))
}

/** Other servers also use other characters. */
function sendableId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, '_')
}

/** An object is asked for. What a model wrote may be none. */
function inputOf(text: string): Fields {
  const input = text.trim() === '' ? {} : parseJson(text)
  return isObject(input) ? input : { malformed_arguments: text }
}

/** Fields with which another API keeps its reasoning. */
function noteForeignFields(message: AssistantMessage, { leftOut }: Mapping): void {
  const { role: _, content: _c, tool_calls: _t, items, prompt_cache: _p, name: _n, ...others } = message
  const count = Object.values(others).filter((value) => value !== undefined && value !== null).length
  const iteration = items?.iteration === undefined ? {} : { iteration: items.iteration }
  if (count > 0) leftOut.push({ ...iteration, api: 'chat', items: count })
}

function resultOf(message: ToolMessage, ids: ReadonlyMap<string, string>, mapping: Mapping): Fields {
  const { tool_call_id: id, content, is_error, prompt_cache } = message
  const said = typeof content === 'string' ? content : blocksOf(content, {}, mapping)
  const isEmpty = typeof said === 'string' ? said.trim() === '' : said.length === 0
  return {
    type: 'tool_result',
    tool_use_id: ids.get(id) ?? sendableId(id),
    ...(!isEmpty && { content: said }),
    ...(is_error && { is_error }),
    ...cacheControl(prompt_cache),
  }
}

/** A mark on the message stands on its last part that is sent. A blank text is not sent. */
function blocksOf(content: Content, { prompt_cache }: CacheBreakpoint, { blobs }: Mapping): Fields[] {
  const parts: readonly ContentPart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const sent = parts.filter((part) => !isBlankText(part))
  return sent.map((part, index) => {
    const mark = part.prompt_cache || (index === sent.length - 1 && prompt_cache)
    return part.type === 'text'
      ? textBlock(part.text, mark)
      : { ...mediaBlock(part, { blobs }), ...cacheControl(mark) }
  })
}

function isBlankText(block: unknown): boolean {
  return (
    isObject(block) && block.type === 'text' && typeof block.text === 'string' && block.text.trim() === ''
  )
}

function textBlock(text: string, mark?: boolean | string | undefined): Fields {
  return { type: 'text', text, ...cacheControl(mark) }
}

function cacheControl(mark: boolean | string | undefined): Fields {
  if (!mark) return {}
  return { cache_control: { type: 'ephemeral', ...(typeof mark === 'string' && { ttl: mark }) } }
}

const IMAGES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

/** In the place of what the API cannot read stands a word. */
function mediaBlock(part: Media, { blobs }: Pick<Mapping, 'blobs'>): Fields {
  const { type, media_type, bytes, name } = part
  const source = { type: 'base64', media_type }
  const title = name === undefined ? {} : { title: name }
  if (IMAGES.has(media_type)) return { type: 'image', source: { ...source, data: base64Of(part, blobs) } }
  if (media_type === 'application/pdf')
    return { type: 'document', source: { ...source, data: base64Of(part, blobs) }, ...title }
  const text = media_type.startsWith('text/') ? Buffer.from(blobs(part.blob)).toString('utf8') : ''
  if (text.trim() !== '')
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title }
  return textBlock(`[${name ?? type}: ${media_type}, ${bytes} bytes, which this API cannot read]`)
}

function isToolUse(block: unknown): block is Fields {
  return isObject(block) && block.type === 'tool_use'
}

function isThinking({ type }: Fields): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/**
 * Reads a message of the API. Its blocks are kept in `items`. Two changes let them be sent back: lone surrogates become replacement
 * characters, and input that the end of the answer cut is an object.
 */
function read(value: unknown): ChatResponse {
  checkDepth(value)
  const whole = isObject(value) ? value : {}
  const { content, stop_reason, usage, model } = whole
  if (!Array.isArray(content)) throw notMessage('it has no content', value)
  const mayBeCut = stop_reason === 'max_tokens' || stop_reason === 'model_context_window_exceeded'
  for (const block of content) checkBlock(block, mayBeCut)
  const texts = content.filter(isObject).filter(({ type }) => type === 'text')
  const calls = content.filter(isToolUse).map(callOf)
  if (stop_reason === 'tool_use' && calls.length === 0)
    throw notMessage('its stop_reason is "tool_use", and it has no such block', value)
  const message: AssistantMessage = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.map(({ text }) => text).join(''),
    ...(calls.length > 0 && { tool_calls: calls }),
    items: { api: 'messages', list: content.map(withInput) },
  }
  const reason = typeof stop_reason === 'string' ? (REASONS[stop_reason] ?? stop_reason) : undefined
  return {
    message: replaceLoneSurrogates(message),
    raw: value,
    ...(reason !== undefined && { finishReason: reason }),
    ...(isObject(usage) && { usage }),
    ...(typeof model === 'string' && { model }),
  }
}

const REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
}

function checkBlock(block: unknown, mayBeCut: boolean): void {
  if (!isObject(block) || typeof block.type !== 'string') throw notMessage('a block of it has no type', block)
  if (block.type === 'text' && typeof block.text !== 'string') throw notMessage('a text is no string', block)
  if (holdsLargeNumber(block))
    throw notMessage('it holds a number beyond 2^53, of which digits are lost when it is read', block)
  if (block.type !== 'tool_use') return
  if (typeof block.id !== 'string' || typeof block.name !== 'string')
    throw notMessage('a call has no id or no name', block)
  if (!isObject(block.input) && !mayBeCut) throw notMessage('the input of a call is no JSON object', block)
}

function holdsLargeNumber(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsLargeNumber)
}

/** Input that is no object stays as it was written, so that the call is refused. */
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
