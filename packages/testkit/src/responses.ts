import {
  answerMessage,
  chatDialect,
  estimateTokens,
  type Fields,
  namedEvent,
  partsIn,
  pieces,
  textIn,
} from './completion.js'
import type { HistoryProblem } from './history.js'
import type { AnswerTurn, Dialect, ScriptMessage, ScriptRequest } from './script.js'

/** OpenAI's Responses. */
export const responsesDialect: Dialect = {
  findProblem: findInputProblem,
  read: conversationOf,
  body: responseBody,
  events: responseEvents,
  error: chatDialect.error,
}

/** The conversation in the words of a chat, by which a script chooses its turn. Consecutive items of the model are one message. */
function conversationOf(body: Fields): ScriptRequest {
  const messages: ScriptMessage[] = []
  let answer: { role: 'assistant'; content: string; tool_calls: Fields[] } | undefined
  for (const item of itemsOf(body)) {
    const { type, role = 'tool', content, output, call_id: id } = item
    if (!isCall(item) && type !== 'reasoning' && role !== 'assistant') {
      answer = undefined
      messages.push({ role, content: textIn(content ?? output) })
      continue
    }
    if (!answer) {
      answer = { role: 'assistant', content: '', tool_calls: [] }
      messages.push(answer)
    }
    answer.content += textIn(content)
    if (isCall(item)) answer.tool_calls.push({ id })
  }
  return { ...body, messages }
}

/** The body of a whole answer. A turn's `reasoning_content` becomes a reasoning item. */
function responseBody(turn: AnswerTurn, request: ScriptRequest, index: number): string {
  return JSON.stringify(responseOf(turn, request, index))
}

/** The same answer as server-sent events, each one an element: items open, grow by words, and close; the last event holds it whole. */
function responseEvents(turn: AnswerTurn, request: ScriptRequest, index: number): string[] {
  const whole = responseOf(turn, request, index)
  const begun = { ...whole, status: 'in_progress', output: [], usage: null }
  const events: Fields[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...whole.output.flatMap((item, position) =>
      itemEvents(item).map((event) => ({ output_index: position, item_id: item.id, ...event })),
    ),
    { type: `response.${whole.status}`, response: whole },
  ]
  return events.map((event, number) => namedEvent({ ...event, sequence_number: number }))
}

function itemEvents(item: Fields): Fields[] {
  const { id, type, content, summary } = item
  const texts: Fields[] = [
    ...partsIn(summary).map((part, at) => ({ of: 'reasoning_summary_text', ...part, summary_index: at })),
    ...partsIn(content).map((part, at) => ({ of: 'output_text', ...part, content_index: at })),
    ...(isCall(item) ? [{ of: 'function_call_arguments', text: item.arguments }] : []),
  ]
  return [
    { type: 'response.output_item.added', item: { id, type, status: 'in_progress' } },
    ...texts.flatMap(({ of, text: said, summary_index, content_index }) =>
      pieces(said).map((delta) => ({ type: `response.${of}.delta`, summary_index, content_index, delta })),
    ),
    { type: 'response.output_item.done', item },
  ]
}

function responseOf(turn: AnswerTurn, request: ScriptRequest, index: number) {
  const reason = INCOMPLETE.get(turn.finish_reason ?? '')
  const output = outputOf(turn, request, index)
  return {
    id: `resp_${index + 1}`,
    object: 'response',
    created_at: 1_700_000_000,
    status: reason ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: reason ? { reason } : null,
    model: request.model,
    output,
    ...(turn.usage === null ? {} : { usage: turn.usage ?? usageOf(request, output) }),
  }
}

const INCOMPLETE = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

/** The encrypted content comes only when it was asked for, as with the real API. */
function outputOf(turn: AnswerTurn, request: ScriptRequest, index: number): Fields[] {
  const { content, tool_calls = [], reasoning_content: thought } = answerMessage(turn, request, index)
  const number = index + 1
  const isEncrypted = JSON.stringify(request.include)?.includes('reasoning.encrypted_content')
  const reasoning = {
    id: `rs_${number}`,
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: thought }],
    ...(isEncrypted ? { encrypted_content: `gAAAA${number}` } : {}),
  }
  const text = { type: 'output_text', annotations: [], logprobs: [], text: content }
  const said = {
    id: `msg_${number}`,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [text],
  }
  const calls = tool_calls.map(({ id, function: called }, at) => {
    return {
      id: `fc_${number}_${at + 1}`,
      type: 'function_call',
      status: 'completed',
      call_id: id,
      ...called,
    }
  })
  return [...(thought === undefined ? [] : [reasoning]), ...(content === null ? [] : [said]), ...calls]
}

function usageOf(request: ScriptRequest, output: readonly Fields[]): Fields {
  const input = estimateTokens(request.input)
  const written = estimateTokens(output)
  const reasoning = output.find(({ type }) => type === 'reasoning')?.summary
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: written,
    output_tokens_details: { reasoning_tokens: estimateTokens(reasoning) },
    total_tokens: input + written,
  }
}

const ITEM_TYPES = ['message', 'function_call', 'function_call_output', 'reasoning']
const PART_TYPES = ['input_text', 'input_image', 'input_file', 'output_text', 'refusal', 'reasoning_text']

/** Looks for what the Responses API answers with 400. */
function findInputProblem(body: unknown): HistoryProblem | undefined {
  const { model, input, messages, tools, store } = Object(body) as Fields
  if (typeof model !== 'string' || model === '') return missing('model')
  if (messages !== undefined) return problem('messages', "Unsupported parameter: 'messages'.")
  if (typeof input !== 'string' && (!Array.isArray(input) || input.length === 0)) return missing('input')
  const nameless = partsIn(tools).findIndex(({ name }) => typeof name !== 'string')
  if (nameless >= 0) return missing(`tools[${nameless}].name`)
  const items = itemsOf({ input })
  const found = items.map((item, index) => findItemProblem(item, `input[${index}]`, store))
  return found.find(Boolean) ?? findCallProblem(items)
}

function findItemProblem(item: Fields, place: string, store: unknown): HistoryProblem | undefined {
  const { type = 'message', content, output, id, encrypted_content } = item
  if (!ITEM_TYPES.includes(String(type)))
    return problem(place, `Invalid value: '${type}' at '${place}.type'.`)
  if (type === 'message' && (!ROLES.includes(String(item.role)) || content === null || content === undefined))
    return problem(place, `Invalid message at '${place}': it needs a role and content.`)
  if (type === 'function_call' && typeof item.arguments !== 'string')
    return problem(place, `Invalid type for '${place}.arguments': expected a string.`)
  if (type === 'reasoning' && store === false && !encrypted_content)
    return problem('input', `Item with id '${id}' not found. Items are not persisted when store is false.`)
  const said = content ?? output
  const parts = typeof said === 'string' ? [] : partsIn(said)
  const part = parts.find((each) => !PART_TYPES.includes(String(each.type)))
  return part && problem(place, `Invalid value: a part of '${place}' has the type '${part.type}'.`)
}

const ROLES = ['system', 'developer', 'user', 'assistant']

function findCallProblem(items: readonly Fields[]): HistoryProblem | undefined {
  const open = new Set<unknown>()
  for (const item of items) {
    const { type, call_id: id } = item
    if (isCall(item)) open.add(id)
    if (type === 'function_call_output' && !open.delete(id))
      return problem('input', `No tool call found for function call output with call_id ${id}.`)
  }
  const [unanswered] = open
  if (open.size === 0) return undefined
  return problem('input', `No tool output found for function call ${unanswered}.`)
}

function missing(param: string): HistoryProblem {
  return problem(param, `Missing required parameter: '${param}'.`)
}

function problem(param: string, message: string): HistoryProblem {
  return { param, message }
}

function isCall({ type }: Fields): boolean {
  return type === 'function_call'
}

function itemsOf({ input }: Fields): Fields[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : partsIn(input)
}
