import { isJournalError } from '@delta/journal'
import { reasoningOf } from '@delta/model'
import type { RecordedParts } from '../recorded-parts.js'
import type { SentRequest } from '../sent-request.js'

/** A request as Chat Completions would have it, whichever API it was sent to. */
export interface Chat {
  messages: ChatMessage[]
  tools: { type: 'function'; function: object }[]
}

/** A message of a chat, without the marks of caches and what only its provider can read. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  /** A string, unless it holds images or files. */
  content: string | Fields[]
  reasoning_content?: string
  tool_calls?: ChatCall[]
  tool_call_id?: string
}

/** A call: `arguments` is the string that the model wrote, or as an object, what it wrote. */
interface ChatCall {
  id: string
  type: 'function'
  function: { name: string; arguments: unknown }
}

type Fields = Record<string, unknown>

/**
 * What a request said. Undefined if it is not recorded, or its record is damaged.
 *
 * @param parts - With it, images and files have a name in the place of their bytes, and a part that comes again is read once.
 */
export async function chatOf(
  request: SentRequest | undefined,
  parts?: RecordedParts,
): Promise<Chat | undefined> {
  if (!request?.sha256) return undefined // what has no record cannot be given back
  const lines = parts?.linesOf(request)
  if (parts && lines) {
    const messages = lines.messages.map(parts.part)
    return asChat({ ...Object(parts.part(lines.parameters)), [lines.list]: messages })
  }
  try {
    return asChat(JSON.parse(await request.body()))
  } catch (error) {
    if (isJournalError(error)) return undefined
    throw error
  }
}

/** The text of a message, without its images and files. */
export function textOf({ content }: Pick<ChatMessage, 'content'>): string {
  if (typeof content === 'string') return content
  return content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('')
}

/** Spells the body of a request as a chat. */
function asChat(body: unknown): Chat {
  const { system, messages, input, prompt, tools } = Object(body) as Fields
  const said = fieldsIn([messages, input, prompt].find(Array.isArray))
  const first = partsIn(system).map((part) => ({ role: 'system', content: [part] }))
  return { messages: joined([...first, ...said].flatMap(messagesIn)), tools: fieldsIn(tools).map(asTool) }
}

function asTool(tool: Fields): Chat['tools'][number] {
  const { function: nested, name, description, parameters, input_schema, inputSchema } = tool
  const flat = { name, description, parameters: parameters ?? input_schema ?? inputSchema }
  return { type: 'function', function: isObject(nested) ? nested : flat }
}

/** The messages that a message of a chat or of Messages is, or an item of Responses. */
function messagesIn(message: Fields): ChatMessage[] {
  const { type, role, content, tool_call_id, call_id, output } = message
  if (type === 'reasoning') return [thought({ reasoning: reasoningOf({ items: { list: [message] } }) })]
  if (type === 'function_call')
    return [thought({ calls: [callOf(call_id, message.name, message.arguments)] })]
  if (type === 'function_call_output') return [result(call_id, output)]
  if (tool_call_id !== undefined) return [result(tool_call_id, content)]
  const parts = partsIn(content)
  if (role === 'assistant') return [answerOf(message, parts)]
  const results = parts.filter(({ type: kind }) => kind === 'tool_result' || kind === 'tool-result')
  const others = parts.filter((part) => !results.includes(part))
  return [
    ...results.map((part) =>
      result(part.tool_use_id ?? part.toolCallId, part.content ?? outputValue(part.output)),
    ),
    ...(others.length > 0 || results.length === 0
      ? [
          {
            role: role === 'user' ? ('user' as const) : ('system' as const),
            content: contentOf(others, '\n\n'),
          },
        ]
      : []),
  ]
}

function answerOf(message: Fields, parts: readonly Fields[]): ChatMessage {
  const calls = [
    ...fieldsIn(message.tool_calls).map(({ id, function: called }) => {
      const { name, arguments: text } = Object(called) as Fields
      return callOf(id, name, text)
    }),
    ...parts.flatMap(({ type, id, toolCallId, name, toolName, input }) =>
      type === 'tool_use' || type === 'tool-call' ? [callOf(id ?? toolCallId, name ?? toolName, input)] : [],
    ),
  ]
  const thinking = parts.flatMap(({ type, thinking: text, text: other }) =>
    type === 'thinking' ? [String(text)] : type === 'reasoning' ? [String(other)] : [],
  )
  const reasoning = [reasoningOf(message), ...thinking].filter(Boolean).join('\n\n')
  const texts = parts.filter(({ type }) => TEXTS.has(String(type)))
  return thought({ content: contentOf(texts, ''), reasoning, calls })
}

const TEXTS = new Set(['text', 'input_text', 'output_text', 'refusal'])

function thought({
  content = '',
  reasoning = '',
  calls = [],
}: {
  content?: ChatMessage['content']
  reasoning?: string
  calls?: ChatCall[]
}): ChatMessage {
  return {
    role: 'assistant',
    content,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function callOf(id: unknown, name: unknown, args: unknown): ChatCall {
  return { id: String(id), type: 'function', function: { name: String(name), arguments: args ?? {} } }
}

function result(id: unknown, content: unknown): ChatMessage {
  return { role: 'tool', tool_call_id: String(id), content: contentOf(partsIn(content), '') }
}

/** What a result is for the AI SDK. */
function outputValue(output: unknown): unknown {
  const { value } = Object(output) as Fields
  return typeof value === 'string' || Array.isArray(value) ? value : JSON.stringify(value ?? '')
}

/** The items of one answer are one message. */
function joined(messages: readonly ChatMessage[]): ChatMessage[] {
  const list: ChatMessage[] = []
  for (const message of messages) {
    const last = list.at(-1)
    if (message.role !== 'assistant' || last?.role !== 'assistant') {
      list.push(message)
      continue
    }
    const texts = [last.content, message.content].filter((content) => content !== '')
    const reasoning = [last.reasoning_content, message.reasoning_content].filter(Boolean).join('\n\n')
    const calls = [...(last.tool_calls ?? []), ...(message.tool_calls ?? [])]
    list[list.length - 1] = thought({ content: texts.join('\n\n'), reasoning, calls })
  }
  return list
}

function contentOf(parts: readonly Fields[], glue: string): ChatMessage['content'] {
  if (parts.every(({ text, type }) => typeof text === 'string' || type === 'refusal'))
    return parts.map(({ text, refusal }) => text ?? refusal ?? '').join(glue)
  return parts.map(partOf)
}

/** A part, as a chat spells it. An image is a data URI, or where it lies on the web. */
function partOf(part: Fields): Fields {
  const {
    type,
    text,
    image_url: url,
    source,
    file,
    file_data,
    filename,
    title,
    mediaType,
    data: bytes,
  } = part
  if (typeof text === 'string') return { type: 'text', text }
  if (isObject(file)) return { type: 'file', file }
  if (file_data !== undefined) return { type: 'file', file: { filename, file_data } }
  if (typeof mediaType === 'string')
    return partOfSdk(mediaType, isObject(bytes) ? bytes.data : bytes, filename)
  if (url !== undefined) return { type: 'image_url', image_url: isObject(url) ? url : { url } }
  const { media_type = '', data = '', url: linked } = Object(source) as Fields
  const uri = linked ?? `data:${media_type};base64,${data}`
  if (type === 'image') return { type: 'image_url', image_url: { url: uri } }
  return { type: 'file', file: { ...(title !== undefined && { filename: title }), file_data: uri } }
}

/** As the AI SDK has it. */
function partOfSdk(mediaType: string, base64: unknown, filename: unknown): Fields {
  const url = `data:${mediaType};base64,${base64}`
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  return { type: 'file', file: { filename, file_data: url } }
}

function partsIn(content: unknown): Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return fieldsIn(content)
}

function fieldsIn(list: unknown): Fields[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a model wrote as arguments, as an object: `{"_raw": text}` where it is not one. */
export function argumentsOf(written: unknown): Fields {
  if (isObject(written)) return written
  const text = typeof written === 'string' ? written : JSON.stringify(written)
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // the text stands for itself
  }
  return { _raw: text }
}
