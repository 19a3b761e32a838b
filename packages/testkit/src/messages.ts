import {
  type Answer,
  type Dialect,
  type Fields,
  namedEvent,
  partsIn,
  pieces,
  textIn,
  usageOf,
} from './dialect.js'
import type { ScriptMessage } from './script.js'

/** Messages. A turn's `reasoning_content` is a thinking block with a signature. */
export const messagesDialect: Dialect = {
  read({ system, messages }) {
    const spoken = partsIn(messages).flatMap(messagesIn)
    return system === undefined ? spoken : [{ role: 'system', content: textIn(system) }, ...spoken]
  },
  body: messageOf,
  events,
  error: ({ status, message }) => ({
    type: 'error',
    error: { type: ERROR_TYPES[status] ?? 'api_error', message },
  }),
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function messagesIn({ role, content }: Fields): ScriptMessage[] {
  const blocks = partsIn(content)
  if (role !== 'assistant')
    return blocks.map(({ type, tool_use_id, content: result, text = '' }) =>
      type === 'tool_result'
        ? { role: 'tool', tool_call_id: tool_use_id, content: textIn(result) }
        : { role: 'user', content: text },
    )
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }))
  return [{ role, content: textIn(content), ...(calls.length > 0 && { tool_calls: calls }) }]
}

function messageOf(answer: Answer): Fields {
  const { number, request, finishReason, counts } = answer
  const usage = {
    input_tokens: counts.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: counts.output,
    output_tokens_details: { thinking_tokens: counts.reasoning },
  }
  return {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: blocksOf(answer),
    stop_reason: STOP_REASONS[finishReason] ?? finishReason,
    stop_sequence: null,
    ...usageOf(answer, usage),
  }
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
}

function blocksOf({ message, number }: Answer): Fields[] {
  const { content, tool_calls = [], reasoning_content: thinking } = message
  return [
    ...(thinking === undefined ? [] : [{ type: 'thinking', thinking, signature: `signed ${number}` }]),
    ...(content ? [{ type: 'text', text: content }] : []),
    ...tool_calls.map(({ id, function: { name, arguments: text } }) => {
      return { type: 'tool_use', id, name, input: parsed(text) }
    }),
  ]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text // a script may say what the API never does
  }
}

function events(answer: Answer): string[] {
  const { stop_reason, stop_sequence, usage, ...envelope } = messageOf(answer)
  const { output_tokens, output_tokens_details, ...counts } = (usage ?? {}) as Fields
  const begun = usage ? { usage: { ...counts, output_tokens: 1 } } : {}
  const message = { ...envelope, content: [], stop_reason: null, stop_sequence: null, ...begun }
  return [
    { type: 'message_start', message },
    { type: 'ping' },
    ...blocksOf(answer).flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence },
      ...(usage ? { usage: { output_tokens, output_tokens_details } } : {}),
    },
    { type: 'message_stop' },
  ].map(namedEvent)
}

/** Which fields of a block come in pieces, and what the piece of each is called. */
const PIECEWISE = [
  ['text', 'text_delta', 'text', ''],
  ['thinking', 'thinking_delta', 'thinking', ''],
  ['signature', 'signature_delta', 'signature', ''],
  ['input', 'input_json_delta', 'partial_json', {}],
] as const

function blockEvents(block: Fields, index: number): Fields[] {
  const fields = PIECEWISE.filter(([field]) => field in block)
  const opened = Object.fromEntries(fields.map(([field, , , empty]) => [field, empty]))
  const deltas = fields.flatMap(([field, type, name]) => {
    const text = typeof block[field] === 'string' ? block[field] : JSON.stringify(block[field])
    const parts = field === 'signature' ? [text] : pieces(text)
    return parts.map((piece) => ({ type, [name]: piece }))
  })
  return [
    { type: 'content_block_start', index, content_block: { ...block, ...opened } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}
