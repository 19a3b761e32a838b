import { chatDialect } from './completion.js'
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

/** Responses. A turn's `reasoning_content` is a reasoning item. */
export const responsesDialect: Dialect = { read, body, events, error: chatDialect.error }

/** Consecutive items of the model are one message. */
function read({ input }: Fields): ScriptMessage[] {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : partsIn(input)
  const messages: Fields[] = []
  for (const { type, role, content, output, call_id: id, name, arguments: text } of items) {
    if (type === 'function_call_output')
      messages.push({ role: 'tool', tool_call_id: id, content: textIn(output) })
    else if (role !== undefined && role !== 'assistant') messages.push({ role, content: textIn(content) })
    else {
      if (messages.at(-1)?.role !== 'assistant') messages.push({ role: 'assistant', content: '' })
      const answer = messages.at(-1) as Fields
      answer.content += textIn(content)
      const call = { id, type: 'function', function: { name, arguments: text } }
      if (type === 'function_call') answer.tool_calls = [...partsIn(answer.tool_calls), call]
    }
  }
  return messages
}

function body(answer: Answer): Fields {
  const reason = INCOMPLETE.get(answer.finishReason)
  const { input, output, reasoning } = answer.counts
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
  return {
    id: `resp_${answer.number}`,
    object: 'response',
    created_at: 1_700_000_000,
    status: reason ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: reason ? { reason } : null,
    model: answer.request.model,
    output: itemsOf(answer),
    ...usageOf(answer, usage),
  }
}

const INCOMPLETE = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

/** The encrypted content comes only when it was asked for, as with the real API. */
function itemsOf({ message, number, request }: Answer): Fields[] {
  const { content, tool_calls = [], reasoning_content: thought } = message
  const isEncrypted = JSON.stringify(request.include)?.includes('reasoning.encrypted_content')
  const reasoning = {
    id: `rs_${number}`,
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: thought }],
    ...(isEncrypted ? { encrypted_content: `gAAAA${number}` } : {}),
  }
  const status = 'completed'
  const text = { type: 'output_text', annotations: [], logprobs: [], text: content }
  const said = { id: `msg_${number}`, type: 'message', status, role: 'assistant', content: [text] }
  const calls = tool_calls.map(({ id: call_id, function: called }, at) => {
    return { id: `fc_${number}_${at + 1}`, type: 'function_call', status, call_id, ...called }
  })
  return [...(thought === undefined ? [] : [reasoning]), ...(content === null ? [] : [said]), ...calls]
}

/** Items open, grow by words, and close. The last event holds the whole response. */
function events(answer: Answer): string[] {
  const whole = body(answer)
  const begun = { ...whole, status: 'in_progress', output: [], usage: null }
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...itemsOf(answer).flatMap((item, output_index) =>
      itemEvents(item).map((event) => ({ output_index, item_id: item.id, ...event })),
    ),
    { type: `response.${whole.status}`, response: whole },
  ].map((event, sequence_number) => namedEvent({ ...event, sequence_number }))
}

function itemEvents(item: Fields): Fields[] {
  const { id, type, content, summary } = item
  const texts: Fields[] = [
    ...partsIn(summary).map((part, at) => ({ of: 'reasoning_summary_text', ...part, summary_index: at })),
    ...partsIn(content).map((part, at) => ({ of: 'output_text', ...part, content_index: at })),
    ...(type === 'function_call' ? [{ of: 'function_call_arguments', text: item.arguments }] : []),
  ]
  return [
    { type: 'response.output_item.added', item: { id, type, status: 'in_progress' } },
    ...texts.flatMap(({ of, text: said, summary_index, content_index }) =>
      pieces(said).map((delta) => ({ type: `response.${of}.delta`, summary_index, content_index, delta })),
    ),
    { type: 'response.output_item.done', item },
  ]
}
