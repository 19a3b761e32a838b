import { findHistoryProblem } from './history.js'
import type { AnswerTurn, Dialect, ScriptedCall, ScriptRequest } from './script.js'
import { textOf } from './script.js'

export type Fields = Record<string, unknown>

/** Chat completions. */
export const chatDialect: Dialect = {
  findProblem: findHistoryProblem,
  read: (body) => body as unknown as ScriptRequest,
  body: completionBody,
  events: completionEvents,
  error({ status, message, param = null, code = null }) {
    const type = status >= 500 ? 'server_error' : 'invalid_request_error'
    return { error: { message, type, param, code } }
  },
}

/** The body of a whole `chat.completion` answer. */
function completionBody(turn: AnswerTurn, request: ScriptRequest, index: number): string {
  return JSON.stringify({
    ...envelope(request, index, 'chat.completion'),
    choices: [{ index: 0, message: answerMessage(turn, request, index), finish_reason: finishReason(turn) }],
    ...(turn.usage === null ? {} : { usage: usageOf(turn, request, index) }),
  })
}

/** The same answer as server-sent events, each one an element: words, pieces of arguments, usage, `[DONE]`. */
function completionEvents(turn: AnswerTurn, request: ScriptRequest, index: number): string[] {
  const { content, tool_calls, role: _role, ...rest } = answerMessage(turn, request, index)
  const deltas = [
    { role: 'assistant', content: content === null ? null : '' },
    ...Object.entries(rest).flatMap(([field, value]) => pieces(value).map((piece) => ({ [field]: piece }))),
    ...(content === null ? [] : pieces(content).map((piece) => ({ content: piece }))),
    ...(tool_calls ?? []).flatMap(callDeltas),
  ]
  const chunk = (choices: object[], more: object = {}) =>
    `data: ${JSON.stringify({ ...envelope(request, index, 'chat.completion.chunk'), choices, ...more })}\n\n`

  return [
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: finishReason(turn) }]),
    ...(wantsUsage(request) && turn.usage !== null
      ? [chunk([], { usage: usageOf(turn, request, index) })]
      : []),
    'data: [DONE]\n\n',
  ]
}

export interface AnswerMessage {
  role: 'assistant'
  content: string | null
  tool_calls?: WireCall[]
  [field: string]: unknown
}

interface WireCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** What a turn says, in the words of a chat. */
export function answerMessage(turn: AnswerTurn, request: ScriptRequest, index: number): AnswerMessage {
  const observation = lastObservation(request)
  const fill = (text: string) => fillIn(text, observation)
  const calls = turn.tool_calls?.map((call, position) =>
    wireCall(call, `call_${index + 1}_${position + 1}`, fill),
  )

  return {
    role: 'assistant',
    content: turn.content === undefined || turn.content === null ? null : fill(turn.content),
    ...(calls ? { tool_calls: calls } : {}),
    ...turn.message,
  }
}

function wireCall(call: ScriptedCall, id: string, fill: (text: string) => string): WireCall {
  const fillStrings = (_key: string, value: unknown) => (typeof value === 'string' ? fill(value) : value)
  const text =
    typeof call.arguments === 'string'
      ? fill(call.arguments)
      : JSON.stringify(call.arguments ?? {}, fillStrings)
  return { id: call.id ?? id, type: 'function', function: { name: call.name, arguments: text } }
}

/** As the script model of `@delta/model` has it, so that a script says the same over HTTP. */
function fillIn(text: string, observation: string): string {
  return text.replaceAll(/\\?\{\{last_observation\}\}/g, (placeholder) =>
    placeholder.startsWith('\\') ? placeholder.slice(1) : observation,
  )
}

function lastObservation(request: ScriptRequest): string {
  const message = request.messages.findLast(({ role }) => role === 'tool')
  return message ? textOf(message).replace(/\n+$/, '') : ''
}

function callDeltas(call: WireCall, index: number): object[] {
  const { arguments: text, name } = call.function
  const opening = { ...call, index, function: { name, arguments: '' } }
  const rest = pieces(text).map((piece) => ({ index, function: { arguments: piece } }))
  return [opening, ...rest].map((delta) => ({ tool_calls: [delta] }))
}

/** Cuts a text into words that join to the same text; anything else is one piece. */
export function pieces(value: unknown): unknown[] {
  return typeof value === 'string' ? (value.match(/\s*\S+|\s+$/g) ?? []) : [value]
}

function envelope(request: ScriptRequest, index: number, object: string): object {
  return { id: `chatcmpl-${index + 1}`, object, created: 1_700_000_000 + index, model: request.model }
}

export function finishReason(turn: AnswerTurn): string {
  return turn.finish_reason ?? (turn.tool_calls?.length ? 'tool_calls' : 'stop')
}

function usageOf(turn: AnswerTurn, request: ScriptRequest, index: number): object {
  if (turn.usage) return turn.usage
  const prompt = estimateTokens(request.messages)
  const message = answerMessage(turn, request, index)
  const completion = estimateTokens(message)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    completion_tokens_details: { reasoning_tokens: estimateTokens(message.reasoning_content) },
    total_tokens: prompt + completion,
  }
}

/** A quarter of the characters of a JSON value. */
export function estimateTokens(value: unknown): number {
  return Math.ceil((JSON.stringify(value) ?? '').length / 4)
}

/** A server-sent event as the APIs with named events send it. */
export function namedEvent(event: Fields): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** The parts of a content. A text is one; anything else has none. */
export function partsIn(content: unknown): Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.map((each) => Object(each) as Fields) : []
}

/** The text in the parts of a content. */
export function textIn(content: unknown): string {
  return partsIn(content)
    .map(({ text = '' }) => text)
    .join('')
}

function wantsUsage(request: ScriptRequest): boolean {
  const options = request.stream_options
  return (
    typeof options === 'object' && options !== null && 'include_usage' in options && !!options.include_usage
  )
}
