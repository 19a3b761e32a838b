import type {
  AssistantMessage,
  CacheBreakpoint,
  ChatMessage,
  ChatRequest,
  ChatResponse,
  Content,
  ContentPart,
  FunctionTool,
  ToolCall,
} from './chat.js'
import { ModelError } from './errors.js'
import { cutOff } from './failure.js'
import { dataUri, type Format, type Mapping, noteForeignItems, type StreamReader } from './format.js'
import { checkDepth, type Fields, isObject, replaceLoneSurrogates, spellLoneSurrogates } from './response.js'

/** OpenAI's Responses. The server keeps nothing: each request holds the whole conversation. */
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
function toolOf({
  type,
  function: { name, description, parameters, strict, ...rest },
}: FunctionTool): Fields {
  const said = description === undefined ? {} : { description }
  return { type, name, ...said, parameters: parameters ?? null, ...rest, strict: strict ?? false }
}

function inputOf(messages: readonly ChatMessage[], mapping: Mapping): unknown[] {
  let callIds = new Map<string, string>() // of the newest answer: canonical id to the provider's
  return messages.flatMap((message): readonly unknown[] => {
    if (message.role === 'assistant') {
      callIds = callIdsOf(message)
      return answerOf(message, mapping)
    }
    const content = contentOf(message.content, message.prompt_cache, mapping)
    if (message.role !== 'tool') return [{ role: message.role, content }]
    const id = message.tool_call_id
    return [{ type: 'function_call_output', call_id: callIds.get(id) ?? id, output: content }]
  })
}

/** The n-th call of the message is the n-th call among its items. */
function callIdsOf({ items, tool_calls = [] }: AssistantMessage): Map<string, string> {
  const calls = items?.api === 'responses' ? items.list.filter(isCall) : []
  return new Map(
    tool_calls.flatMap(({ id }, index): [string, string][] => {
      const callId = calls[index]?.call_id
      return typeof callId === 'string' ? [[id, callId]] : []
    }),
  )
}

function isCall(item: unknown): item is Fields {
  return isObject(item) && item.type === 'function_call'
}

/** The items as they came, or else the text and the calls. */
function answerOf(message: AssistantMessage, mapping: Mapping): readonly unknown[] {
  const { items, content, tool_calls = [] } = message
  if (items?.api === 'responses') return items.list
  noteForeignItems(items, mapping)
  noteOwnFields(message, mapping)
  const calls = tool_calls.map(({ id, function: { name, arguments: text } }) => {
    return { type: 'function_call', call_id: id, name, arguments: text }
  })
  return content || calls.length === 0 ? [{ role: 'assistant', content: content ?? '' }, ...calls] : calls
}

/** Notes what a chat completion has besides text and calls: reasoning, signatures. */
function noteOwnFields(message: AssistantMessage, { leftOut }: Mapping): void {
  const { role: _role, content: _content, tool_calls = [], items, prompt_cache: _cache, ...own } = message
  const ofCalls = tool_calls.flatMap(({ id: _id, type: _type, function: _function, ...rest }) =>
    Object.keys(rest),
  )
  const count = Object.keys(own).length + ofCalls.length
  if (count === 0) return
  const { iteration } = items ?? {}
  leftOut.push({ ...(iteration !== undefined && { iteration }), api: 'chat', items: count })
}

type Mark = CacheBreakpoint['prompt_cache']

/** Text stays a string, unless a cacheable prefix ends with it. A mark on the message stands on its last part. */
function contentOf(content: Content, mark: Mark, mapping: Mapping): unknown {
  if (typeof content !== 'string')
    return content.map((part, index) => partOf(part, index === content.length - 1 && mark, mapping))
  return mark && content !== '' ? [partOf({ type: 'text', text: content }, mark, mapping)] : content
}

/** An empty text may carry no breakpoint. */
function partOf(part: ContentPart, mark: Mark, { blobs }: Mapping): Fields {
  const isMarked = (mark || part.prompt_cache) && !(part.type === 'text' && part.text === '')
  const breakpoint = isMarked ? { prompt_cache_breakpoint: { mode: 'explicit' } } : {}
  if (part.type === 'text') return { type: 'input_text', text: part.text, ...breakpoint }
  const data = dataUri(part, blobs)
  return part.type === 'image'
    ? { type: 'input_image', detail: 'auto', image_url: data, ...breakpoint }
    : { type: 'input_file', filename: part.name ?? 'file', file_data: data, ...breakpoint }
}

/**
 * Reads a response. Its output items are kept as they came, but for lone surrogates, which are treated as in a chat completion.
 *
 * @throws {ModelError} `ERR_MODEL_RESPONSE`
 */
function read(value: unknown): ChatResponse {
  checkDepth(value)
  if (!isObject(value) || !Array.isArray(value.output)) throw malformed('it has no list "output"', value)
  const { status = 'completed', usage, model } = value
  if (status !== 'completed' && status !== 'incomplete') throw malformed(`its status is "${status}"`, value)
  if (hasLargeNumber(value.output))
    throw malformed('its output holds a number beyond 2^53, which would not come back as it was', value)
  const list: unknown[] = replaceLoneSurrogates(value.output.map(spellArguments))
  const calls = list.filter(isCall).map(readCall)
  return {
    message: {
      role: 'assistant',
      content: textOf(list),
      ...(calls.length > 0 && { tool_calls: calls }),
      items: { api: 'responses', list },
    },
    finishReason: reasonOf(value, calls),
    raw: value,
    ...(isObject(usage) && { usage }),
    ...(typeof model === 'string' && { model }),
  }
}

function hasLargeNumber(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLargeNumber)
}

function spellArguments(item: unknown): unknown {
  const text = isCall(item) ? item.arguments : undefined
  return typeof text === 'string' ? { ...(item as Fields), arguments: spellLoneSurrogates(text) } : item
}

function readCall(item: Fields): ToolCall {
  const { call_id: id, name, arguments: text } = item
  if (typeof id !== 'string' || typeof name !== 'string' || typeof text !== 'string')
    throw malformed('a function_call lacks its call_id, name or arguments', item)
  return { id, type: 'function', function: { name, arguments: text } }
}

/** Null without a message. Several messages of one answer are paragraphs. */
function textOf(list: readonly unknown[]): string | null {
  const messages = list.filter(isObject).filter(({ type }) => type === 'message')
  if (messages.length === 0) return null
  const texts = messages.map(({ content }) => {
    const parts = Array.isArray(content) ? content.filter(isObject) : []
    return parts.map(({ type, text, refusal }) => (type === 'refusal' ? refusal : text) ?? '').join('')
  })
  return texts.filter(Boolean).join(PARAGRAPH)
}

/** What was cut off counts first: its calls may be unfinished. */
function reasonOf({ status, incomplete_details }: Fields, calls: readonly ToolCall[]): string {
  if (status !== 'incomplete') return calls.length > 0 ? 'tool_calls' : 'stop'
  const { reason } = isObject(incomplete_details) ? incomplete_details : {}
  return typeof reason !== 'string' || reason === 'max_output_tokens' ? 'length' : reason
}

function malformed(what: string, said: unknown): ModelError {
  const text = (JSON.stringify(said) ?? String(said)).slice(0, 200)
  const message = `The answer is not a response that can be used: ${what}. It says: ${text}`
  return new ModelError('ERR_MODEL_RESPONSE', message, { retryable: true })
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

/** The last event brings the whole response; what came before is for the screen, and for servers that leave its output empty. */
function startStream(): StreamReader {
  const items: unknown[] = []
  const places: Record<string, string> = {}
  let text: string | undefined
  let whole: Fields | undefined
  return {
    add(event) {
      const { type, delta, response, item } = event
      const name = String(type)
      const isLast = LAST.test(name) && isObject(response)
      if (isLast) whole = response
      if (name === 'response.output_item.done') items[Number(event.output_index ?? items.length)] = item
      const field = PIECES[name]
      if (field === undefined || typeof delta !== 'string')
        return { delta: {}, isEmpty: type === undefined || SIGNS_OF_LIFE.test(name), isLast }
      const place =
        field === 'content' ? `${event.output_index}` : `${event.output_index} ${event.summary_index}`
      const isNext = places[field] !== undefined && places[field] !== place
      if (delta !== '') places[field] = place
      const piece = isNext && delta !== '' ? PARAGRAPH + delta : delta
      if (field === 'content') text = (text ?? '') + piece
      return { delta: { [field]: piece }, isEmpty: delta === '' }
    },
    end() {
      if (!whole) throw cutOff(text, 'no response.completed')
      const { output } = whole
      return Array.isArray(output) && output.length > 0 ? whole : { ...whole, output: items.filter(Boolean) }
    },
  }
}
