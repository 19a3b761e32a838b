import type { AnswerTurn, ScriptedCall, ScriptMessage } from './script.js'
import { textOf } from './script.js'

export type Fields = Record<string, unknown>

/** How an API spells what is asked and answered. */
export interface Dialect {
  /** The conversation as chat messages, by which a script chooses its turn, and which is checked. */
  read(body: Fields): ScriptMessage[]
  /** A whole answer. */
  body(answer: Answer): Fields
  /** The same answer as server-sent events, each one an element. */
  events(answer: Answer): string[]
  error(failure: Failure): Fields
}

/** An answer that is an error. */
export interface Failure {
  readonly status: number
  readonly message: string
  readonly param?: string
  readonly code?: string
}

/** What a turn says to a request, ready to be spelled. */
export interface Answer {
  readonly request: Fields
  /** 1 for the first turn of a script. */
  readonly number: number
  readonly message: AnswerMessage
  readonly finishReason: string
  /** The turn's own usage. Null: none. Undefined: `counts`. */
  readonly usage: AnswerTurn['usage']
  /** Tokens, estimated: a quarter of the characters. */
  readonly counts: { readonly input: number; readonly output: number; readonly reasoning: number }
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

/** @param messages - The conversation of the request, as chat messages. */
export function answerOf(
  turn: AnswerTurn,
  { request, messages, index }: { request: Fields; messages: readonly ScriptMessage[]; index: number },
): Answer {
  const message = messageOf(turn, messages, index)
  return {
    request,
    number: index + 1,
    message,
    finishReason: turn.finish_reason ?? (turn.tool_calls?.length ? 'tool_calls' : 'stop'),
    usage: turn.usage,
    counts: {
      input: estimateTokens(request.messages ?? request.input),
      output: estimateTokens(message),
      reasoning: estimateTokens(message.reasoning_content),
    },
  }
}

function messageOf(turn: AnswerTurn, messages: readonly ScriptMessage[], index: number): AnswerMessage {
  const { content = null, tool_calls: calls } = turn
  const observation = lastObservation(messages)
  const fill = (text: string) => fillIn(text, observation)
  const wire = calls?.map((call, position) => wireCall(call, `call_${index + 1}_${position + 1}`, fill))
  return {
    role: 'assistant',
    content: content === null ? null : fill(content),
    ...(wire ? { tool_calls: wire } : {}),
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

function lastObservation(messages: readonly ScriptMessage[]): string {
  const message = messages.findLast(({ role }) => role === 'tool')
  return message ? textOf(message).replace(/\n+$/, '') : ''
}

function estimateTokens(value: unknown): number {
  return Math.ceil((JSON.stringify(value) ?? '').length / 4)
}

/** The field `usage` of an answer. @param spelled - The estimated counts, in the words of the API. */
export function usageOf({ usage }: Answer, spelled: Fields): Fields {
  return usage === null ? {} : { usage: usage ?? spelled }
}

/** Cuts a text into words that join to the same text; anything else is one piece. */
export function pieces(value: unknown): unknown[] {
  return typeof value === 'string' ? (value.match(/\s*\S+|\s+$/g) ?? []) : [value]
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
