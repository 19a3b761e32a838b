import type { AssistantMessage, ChatResponse, ProviderItems, ToolCall } from './chat.js'
import { isModelError, ModelError, type ModelErrorDetails } from './errors.js'

export type Fields = Record<string, unknown>

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object itself; `{}` for any other value. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

/** The value of a JSON text; undefined if it is not JSON, or has too many values. */
export function parseJson(text: string): unknown {
  if (hasTooManyValues(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller shows the text
  }
}

/** A model writes far fewer values in one answer. To parse more would stop the process for seconds. */
export const MOST_VALUES = 2_000_000

/** Counts commas and opening brackets, also those within strings: each value but the first has one. */
export function hasTooManyValues(text: string): boolean {
  if (text.length <= MOST_VALUES) return false
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA || code === BRACKET || code === BRACE) values++
  }
  return values > MOST_VALUES
}

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b]

/**
 * Reads a `chat.completion` object, or a bare assistant message.
 *
 * The message keeps all its fields, reasoning included. Four changes let it be sent back to any server: fields that are `null` or
 * an empty list are left out, `content` is a string or `null`, calls have `arguments` as a string and no `index`, and lone
 * surrogates become replacement characters.
 *
 * @throws {ModelError} `ERR_MODEL_RESPONSE`: it is neither, or its content or calls cannot be read.
 */
export function parseCompletion(value: unknown): ChatResponse {
  checkDepth(value)
  const whole = fieldsOf(value)
  const { message, finish_reason } = fieldsOf(
    Array.isArray(whole.choices) ? whole.choices[0] : { message: value },
  )
  if (!isObject(message) || !isMessage(message, whole)) throw malformed('it has no choices[0].message', value)
  const finishReason = readReason(finish_reason)
  const read = replaceLoneSurrogates(readMessage(message))
  if (isCallLost(read, finishReason))
    throw malformed(`its finish_reason is "${finishReason}", and it has no "tool_calls"`, message)
  if (BROKEN_OFF.test(finishReason ?? ''))
    throw unusable(
      `The server aborted its answer (finish_reason: ${finishReason}). What arrived was discarded.`,
    )
  return responseOf(value, read, finishReason)
}

/** Takes the usage and the model from the raw answer. */
export function responseOf(raw: unknown, message: AssistantMessage, finishReason?: string): ChatResponse {
  return { message, raw, ...(finishReason !== undefined && { finishReason }), ...chargeOf(raw) }
}

function chargeOf(raw: unknown): { usage?: Fields; model?: string } {
  const { usage, model } = fieldsOf(raw)
  return { ...(isObject(usage) && { usage }), ...(typeof model === 'string' && { model }) }
}

/**
 * Notes in an error what the answer cost that cannot be used.
 *
 * @param raw - The answer, or what arrived of it, or another error about it.
 * @param hide - Removes the key from a text.
 * @returns The same error. One that knows the cost already, and one of another kind, stays as it is.
 */
export function charge<Thrown>(error: Thrown, raw: unknown, hide = (text: string) => text): Thrown {
  const found = chargeOf(raw)
  if (!isModelError(error) || error.usage) return error
  if (isModelError(raw) && raw.usage === null) return chargeUnknown(error)
  if (!found.usage || isDeeper(found.usage, MAX_DEPTH)) return error
  return Object.assign(error, mapStrings(found, hide))
}

/** Notes in an error that an answer had begun, which is paid for, and that nobody says what it cost. */
export function chargeUnknown<Thrown>(error: Thrown): Thrown {
  return isModelError(error) && !error.usage ? Object.assign(error, { usage: null }) : error
}

export function messageWith(
  items: ProviderItems,
  content: string | null,
  calls: ToolCall[],
): AssistantMessage {
  return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }), items }
}

/** The message of a choice may be empty: some servers leave out empty fields. */
function isMessage(message: Fields, whole: Fields): boolean {
  return 'content' in message || 'tool_calls' in message || ('choices' in whole && 'role' in message)
}

/** Servers vary the names of the two reasons that make an answer incomplete: `model_length`, `content_filter: SAFETY`. */
function readReason(reason: unknown): string | undefined {
  if (typeof reason !== 'string') return undefined
  if (/length|max_tokens/i.test(reason)) return 'length'
  return /^content_filter|^(safety|recitation|prohibited_content)$/i.test(reason) ? 'content_filter' : reason
}

/** Reasons with which a server says that it could not finish. What arrived is not an answer, however complete it looks. */
const BROKEN_OFF = /error|abort|cancel|insufficient/i

function readMessage({ role: _role, content, tool_calls, ...rest }: Fields): AssistantMessage {
  const calls = isEmptyValue(tool_calls) ? [] : readCalls(tool_calls)
  return {
    role: 'assistant',
    content: readContent(content),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value === '' || !isEmptyValue(value))),
  }
}

function isEmptyValue(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** Some servers answer with a list of parts; their text is the content. */
function readContent(content: unknown): string | null {
  if (typeof content === 'string') return content
  if (content === undefined || content === null) return null
  if (!Array.isArray(content)) throw malformed('its content is neither a string nor a list of parts', content)
  return textOfParts(content)
}

export function textOfParts(parts: readonly unknown[]): string {
  return parts.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** The text of a message's reasoning, wherever its provider puts it; '' for none. */
export function reasoningOf(message: Readonly<Fields>): string {
  const { reasoning_content, reasoning, reasoning_details: details, items } = message
  if (isObject(items) && Array.isArray(items.list))
    return items.list.filter(isObject).map(reasoningOfItem).filter(Boolean).join('\n\n')
  const said = reasoning_content || reasoning
  if (typeof said === 'string') return said
  const parts = Array.isArray(details) ? details.filter(isObject) : []
  return textOfParts(parts.map(({ text, summary }) => ({ text: text ?? summary })))
}

/** The reasoning in an item of a provider: the parts of a summary are paragraphs. */
function reasoningOfItem(item: Fields): string {
  if (item.type !== 'reasoning') return reasoningOfBlock(item) ?? ''
  const { summary, content, text } = item
  if (typeof text === 'string') return text
  const parts = (list: unknown) => (Array.isArray(list) ? list.map((part) => textOfParts([part])) : [])
  return [...parts(summary), parts(content).join('')].filter(Boolean).join('\n\n')
}

/** The text of a thinking block of the Messages API; undefined for another block. */
export function reasoningOfBlock({ type, thinking, data }: Fields): string | undefined {
  if (type === 'thinking') return typeof thinking === 'string' ? thinking : ''
  if (type !== 'redacted_thinking') return undefined
  return `[redacted, ${Buffer.byteLength(String(data), 'base64')} bytes]`
}

/** Unreadable calls must not vanish: without them the message would pass for the final answer. */
function readCalls(list: unknown): ToolCall[] {
  const calls = Array.isArray(list) ? list.filter((call) => call !== null) : []
  if (calls.length === 0 || !calls.every(isObject))
    throw malformed('its tool_calls are not a list of calls', list)
  return calls.map(readCall)
}

/** Removes `index`, which belongs to a stream: strict servers refuse it in a message that is sent back. */
function readCall({ index: _index, ...call }: Fields): ToolCall {
  if (!isObject(call.function)) throw malformed('a call has no "function" with its name and arguments', call)
  const { name, arguments: text } = call.function
  return {
    ...call,
    id: typeof call.id === 'string' ? call.id : '',
    type: 'function',
    function: {
      ...call.function,
      name: typeof name === 'string' ? name : '',
      arguments: typeof text === 'string' ? spellLoneSurrogates(text) : JSON.stringify(text ?? {}),
    },
  }
}

/** Old servers call by `function_call`. Without its call the message would pass for an answer. */
function isCallLost({ content, tool_calls, function_call }: AssistantMessage, finishReason = ''): boolean {
  const isAnnounced = /call|tool/i.test(finishReason) && (content ?? '').trim() === ''
  return tool_calls === undefined && (isObject(function_call) || isAnnounced)
}

/** Arguments with each lone surrogate written out as `\uXXXX`, so that the call is refused and no tool gets an altered value. */
export function spellLoneSurrogates(text: string): string {
  return text.replace(/\p{Surrogate}/gu, (surrogate) => `\\u${surrogate.charCodeAt(0).toString(16)}`)
}

/**
 * The same JSON value with replacement characters in place of lone surrogates, which a server leaves where it cuts a character:
 * JSON can spell them, but `jq` and strict servers refuse them.
 */
export function replaceLoneSurrogates<T>(value: T): T {
  return mapStrings(value, (text) => text.toWellFormed()) as T
}

/** The same JSON value with each string changed, field names included. */
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapStrings(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [change(name), mapStrings(each, change)]),
  )
}

/** The error for an answer that cannot be used. The next attempt may bring a better one. */
export function unusable(message: string, details: ModelErrorDetails = {}): ModelError {
  return new ModelError('ERR_MODEL_RESPONSE', message, { retryable: true, ...details })
}

/** The error for an answer that is not what an API answers. */
export function malformed(what: string, said: unknown, expected = 'a chat completion'): ModelError {
  const text = (JSON.stringify(said) ?? String(said)).slice(0, 200)
  return unusable(`The answer is not ${expected}: ${what}. It says: ${text}`)
}

const MAX_DEPTH = 200

/**
 * Refuses an answer nested so deeply that serialising it would overflow the stack. `JSON.parse` reads any depth,
 * `JSON.stringify` does not, and every answer is recorded.
 *
 * @throws {ModelError} `ERR_MODEL_RESPONSE`.
 */
export function checkDepth(answer: unknown): void {
  if (isDeeper(answer, MAX_DEPTH))
    throw unusable(`The answer cannot be recorded: it is nested more than ${MAX_DEPTH} levels deep.`)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1))
}
