import type { AssistantMessage, ChatResponse, ToolCall, Usage } from './chat.js'
import { ModelError } from './errors.js'
import { checkDepth, isObject, withoutHalves } from './json.js'

/**
 * Reads a `chat.completion` object, or a bare assistant message.
 *
 * The message is kept as it came, reasoning fields and all, with four exceptions that let it be sent back to any server:
 * fields that are `null` or an empty list are left out, `content` is a string or `null`, calls have `arguments` as text and
 * no `index`, and half a character becomes a replacement character.
 *
 * @throws {ModelError} `ERR_MODEL_RESPONSE`: it is neither, or holds what cannot be read as text or calls.
 */
export function parseCompletion(value: unknown): ChatResponse {
  checkDepth(value)
  if (!isObject(value)) throw notACompletion(value)
  const choice = Array.isArray(value.choices) ? value.choices[0] : { message: value }
  const message = isObject(choice) ? choice.message : undefined
  if (!isObject(message) || !isMessage(message, value)) throw notACompletion(value)

  const finishReason = readReason(isObject(choice) ? choice.finish_reason : undefined)
  const usage = readUsage(value.usage)
  const read = wellFormed(readMessage(message))
  if (isCallLost(read, finishReason))
    throw malformed(`its finish_reason is "${finishReason}", and there is neither a call nor a text`, message)
  if (isObject(message.function_call) && read.tool_calls === undefined)
    throw malformed('its call is a "function_call", and not one of "tool_calls"', message)
  if (BROKEN_OFF.test(finishReason ?? '')) throw brokenOff(finishReason)
  return {
    message: read,
    raw: value,
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(usage ? { usage } : {}),
  }
}

/** The message of a choice may be empty: some servers leave out empty fields. */
function isMessage(message: Record<string, unknown>, value: object): boolean {
  return 'content' in message || 'tool_calls' in message || ('choices' in value && 'role' in message)
}

/** Servers vary the names of the two reasons that make an answer incomplete: `model_length`, `content_filter: SAFETY`. */
function readReason(reason: unknown): string | undefined {
  if (typeof reason !== 'string') return undefined
  if (/length|max_tokens/i.test(reason)) return 'length'
  return /^content_filter|^(safety|recitation|prohibited_content)$/i.test(reason) ? 'content_filter' : reason
}

/** Reasons by which a server says that it could not finish: what came is not an answer, however complete it looks. */
const BROKEN_OFF = /error|abort|cancel|insufficient/i

function brokenOff(reason: string | undefined): ModelError {
  const text = `The server aborted its answer (finish_reason: ${reason}). What arrived was discarded.`
  return new ModelError('ERR_MODEL_RESPONSE', text, { retryable: true })
}

function readUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined
  const prompt = readCount(usage.prompt_tokens)
  const completion = readCount(usage.completion_tokens)
  const total = isCount(usage.total_tokens) ? usage.total_tokens : prompt + completion
  return { ...usage, prompt_tokens: prompt, completion_tokens: completion, total_tokens: total }
}

function readMessage(message: Record<string, unknown>): AssistantMessage {
  const { role: _role, content, tool_calls, ...rest } = message
  const calls = readCalls(tool_calls)
  const told = Object.entries(rest).filter(([, value]) => value !== null && !isEmptyList(value))
  return {
    role: 'assistant',
    content: readContent(content),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...Object.fromEntries(told),
  }
}

/** Some servers answer with a list of parts; their text is the content. */
function readContent(content: unknown): string | null {
  if (typeof content === 'string') return content
  if (saysNothing(content)) return null
  if (!Array.isArray(content)) throw malformed('its content is neither a text nor a list of parts', content)
  return textOfParts(content)
}

export function textOfParts(parts: readonly unknown[]): string {
  return parts.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** The text of a message's reasoning, under whatever name its provider uses; '' for none. */
export function reasoningOf({
  reasoning_content,
  reasoning,
  reasoning_details,
}: Readonly<Record<string, unknown>>): string {
  const text = reasoning_content || reasoning
  if (typeof text === 'string') return text
  return Array.isArray(reasoning_details) ? textOfParts(reasoning_details) : ''
}

/** Calls that cannot be read must not vanish: without them the message would pass for the answer. */
function readCalls(list: unknown): ToolCall[] {
  if (saysNothing(list) || isEmptyList(list)) return []
  const calls = Array.isArray(list) ? list.filter((call) => call !== null) : []
  if (calls.length === 0 || !calls.every(isObject))
    throw malformed('its tool_calls are not a list of calls', list)
  const nameless = calls.find((call) => !isObject(call.function))
  if (nameless) throw malformed('a call has no "function" with its name and arguments', nameless)
  return calls.map(readCall)
}

/** A call was announced (`function_call` by old servers) and none came: as an answer it would be empty. */
function isCallLost({ content, tool_calls }: AssistantMessage, finishReason = ''): boolean {
  const announced = /call|tool/i.test(finishReason)
  return announced && tool_calls === undefined && (content ?? '').trim() === ''
}

/** The `index` of a call belongs to a stream; strict servers refuse it in a message that is sent back. */
function readCall({ index: _index, ...call }: Record<string, unknown>): ToolCall {
  const fields = isObject(call.function) ? call.function : {}
  const text = fields.arguments
  return {
    ...call,
    id: typeof call.id === 'string' ? call.id : '',
    type: 'function',
    function: {
      ...fields,
      name: typeof fields.name === 'string' ? fields.name : '',
      arguments: typeof text === 'string' ? text : JSON.stringify(text ?? {}),
    },
  }
}

/**
 * The message without half characters (lone surrogates), which a cut by the server leaves: JSON can spell them, but `jq` and
 * strict servers refuse them. They become replacement characters, but in a call's arguments they are written out as `\uXXXX`,
 * which shows a reader that no such value was meant.
 */
function wellFormed(message: AssistantMessage): AssistantMessage {
  const { tool_calls: calls } = message
  return withoutHalves(calls ? { ...message, tool_calls: calls.map(withHalvesSpelt) } : message)
}

function withHalvesSpelt(call: ToolCall): ToolCall {
  if (call.function.arguments.isWellFormed()) return call
  const text = call.function.arguments.replace(
    /\p{Surrogate}/gu,
    (half) => `\\u${half.charCodeAt(0).toString(16)}`,
  )
  return { ...call, function: { ...call.function, arguments: text } }
}

function notACompletion(value: unknown): ModelError {
  return malformed('it has no choices[0].message', value)
}

function malformed(what: string, said: unknown): ModelError {
  const text = typeof said === 'bigint' ? `${said}n` : (JSON.stringify(said) ?? String(said))
  return new ModelError(
    'ERR_MODEL_RESPONSE',
    `The answer is not a chat completion: ${what}. It says: ${text.slice(0, 200)}`,
    { retryable: true },
  )
}

function saysNothing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function readCount(value: unknown): number {
  return isCount(value) ? value : 0
}

/** A negative or absurdly large number is not a count, and would spoil the sums. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
