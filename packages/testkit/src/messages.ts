import { createHash } from 'node:crypto'
import {
  type AnswerMessage,
  answerMessage,
  estimateTokens,
  type Fields,
  finishReason,
  namedEvent,
  partsIn,
  pieces,
  textIn,
} from './completion.js'
import type { HistoryProblem } from './history.js'
import type { AnswerTurn, Dialect, ScriptMessage, ScriptRequest } from './script.js'

/** Anthropic's Messages. A turn's `reasoning_content` is a thinking block with a signature, which must come back with its text. */
export const messagesDialect: Dialect = {
  findProblem,
  read: (body) => ({ ...body, messages: spokenIn(body) }),
  body: (turn, request, index) => JSON.stringify(messageOf(turn, request, index)),
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

/** The conversation as chat messages, by which the turn is chosen. */
function spokenIn({ system, messages }: Fields): ScriptMessage[] {
  const turns = (messages as Fields[]).flatMap(({ role, content }): ScriptMessage[] => {
    const blocks = partsIn(content)
    if (role === 'assistant') return [{ role, content, tool_calls: blocks.filter(isUse) }]
    return blocks.map((block) =>
      block.type === 'tool_result'
        ? { role: 'tool', content: textIn(block.content) }
        : { role: 'user', content: textIn([block]) },
    )
  })
  return system === undefined ? turns : [{ role: 'system', content: textIn(system) }, ...turns]
}

function isUse({ type }: Fields): boolean {
  return type === 'tool_use'
}

function messageOf(turn: AnswerTurn, request: ScriptRequest, index: number): Fields {
  const { usage } = turn
  const reason = finishReason(turn)
  const content = answerBlocks(answerMessage(turn, request, index))
  const input_tokens = estimateTokens(request.messages)
  const output_tokens = estimateTokens(content)
  const cached = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const thinking_tokens = estimateTokens(content.find(({ type }) => type === 'thinking')?.thinking)
  const counted = { input_tokens, ...cached, output_tokens, output_tokens_details: { thinking_tokens } }
  return {
    id: `msg_${index + 1}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content,
    stop_reason: STOP_REASONS[reason] ?? reason,
    stop_sequence: null,
    ...(usage === null ? {} : { usage: usage ?? counted }),
  }
}

function answerBlocks({ content, tool_calls = [], reasoning_content: thinking }: AnswerMessage): Fields[] {
  return [
    ...(typeof thinking === 'string' ? [{ type: 'thinking', thinking, signature: sign(thinking) }] : []),
    ...(content ? [{ type: 'text', text: content }] : []),
    ...tool_calls.map(({ id, function: called }) => ({
      type: 'tool_use',
      id,
      name: called.name,
      input: parsed(called.arguments),
    })),
  ]
}

function sign(thinking: unknown): string {
  return createHash('sha256').update(`signed ${thinking}`).digest('base64')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text // a script may say what the API never does
  }
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
}

function events(turn: AnswerTurn, request: ScriptRequest, index: number): string[] {
  const { content, stop_reason, stop_sequence, usage, ...envelope } = messageOf(turn, request, index)
  const { output_tokens, output_tokens_details, ...counts } = (usage ?? {}) as Fields
  const begun = usage ? { usage: { ...counts, output_tokens: 1 } } : {}
  const message = { ...envelope, content: [], stop_reason: null, stop_sequence: null, ...begun }
  return [
    { type: 'message_start', message },
    { type: 'ping' },
    ...(content as Fields[]).flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence },
      ...(usage ? { usage: { output_tokens, output_tokens_details } } : {}),
    },
    { type: 'message_stop' },
  ].map(namedEvent)
}

function blockEvents(block: Fields, index: number) {
  const { text, thinking, signature, input, ...rest } = block
  const deltas: Fields[] = [
    ...pieces(text ?? '').map((piece) => ({ type: 'text_delta', text: piece })),
    ...pieces(thinking ?? '').map((piece) => ({ type: 'thinking_delta', thinking: piece })),
    ...(signature ? [{ type: 'signature_delta', signature }] : []),
    ...pieces(typeof input === 'string' ? input : (JSON.stringify(input) ?? '')).map((piece) => ({
      type: 'input_json_delta',
      partial_json: piece,
    })),
  ]
  const empty = { text: '', thinking: '', signature: '', input: {} }
  const opened = Object.fromEntries(Object.entries(empty).filter(([field]) => field in block))
  return [
    { type: 'content_block_start', index, content_block: { ...rest, ...opened } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** Looks for what the API answers with 400. */
function findProblem(body: Fields): HistoryProblem | undefined {
  const { model, max_tokens, messages, system = [] } = Object(body)
  if (typeof model !== 'string') return problem('model', 'Field required')
  if (!Number.isInteger(max_tokens)) return problem('max_tokens', 'Field required')
  if (!Array.isArray(messages) || messages.length === 0)
    return problem('messages', 'at least one message is required')
  if (messages[0].role !== 'user')
    return problem('messages.0.role', 'the first message must use the "user" role')
  const given = [...messages.entries()].map(([at, { content }]): [string, Fields[]] => [
    `messages.${at}`,
    partsIn(content),
  ])
  for (const [place, blocks] of [['system', partsIn(system)] as const, ...given]) {
    const found = findBlockProblem(blocks, place)
    if (found) return found
  }
  const marks = JSON.stringify([system, messages, body.tools]).split('"cache_control"').length - 1
  if (marks > 4) return problem('cache_control', `A maximum of 4 blocks may have it. Found ${marks}.`)
  return findOrderProblem(messages)
}

function problem(param: string, message: string): HistoryProblem {
  return { param, message: `${param}: ${message}` }
}

function findBlockProblem(blocks: readonly Fields[], place: string): HistoryProblem | undefined {
  if (place !== 'system' && blocks.length === 0)
    return problem(place, 'all messages must have non-empty content')
  for (const [at, block] of blocks.entries()) {
    const param = `${place}.content.${at}`
    const { type, text, thinking, signature, input, content } = block
    if (type === 'text' && String(text).trim() === '')
      return problem(param, 'text content blocks must contain non-whitespace text')
    if (type === 'thinking' && signature !== sign(thinking))
      return problem(param, 'Invalid `signature` in `thinking` block')
    if (/thinking$/.test(String(type)) && 'cache_control' in block)
      return problem(param, 'cache_control: Extra inputs are not permitted')
    if (type === 'tool_use' && (typeof input !== 'object' || input === null))
      return problem(`${param}.input`, 'Input should be an object')
    if (type === 'tool_result' && Array.isArray(content)) {
      const found = findBlockProblem(content, param)
      if (found) return found
    }
  }
  return undefined
}

/** The results of all calls begin the very next message. */
function findOrderProblem(messages: readonly Fields[]): HistoryProblem | undefined {
  let open: unknown[] = []
  for (const [at, { role, content }] of messages.entries()) {
    const place = `messages.${at}`
    const blocks = partsIn(content)
    if (role !== 'user' && role !== 'assistant') return problem(`${place}.role`, `Unexpected role "${role}"`)
    if (role === messages[at - 1]?.role) return problem(`${place}.role`, 'roles must alternate')
    const results = blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id)
    const unexpected = results.find((id, position) => !open.includes(id) || results.indexOf(id) !== position)
    if (unexpected !== undefined)
      return problem(place, `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unexpected}`)
    const missing = open.find((id) => !results.includes(id))
    const isFirst = blocks.slice(0, results.length).every(({ type }) => type === 'tool_result')
    if (missing !== undefined || !isFirst)
      return problem(
        place,
        `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing ?? ''}`,
      )
    open = role === 'assistant' ? blocks.filter(isUse).map(({ id }) => id) : []
    if (new Set(open).size < open.length) return problem(place, '`tool_use` ids must be unique')
  }
  return open.length > 0
    ? problem('messages', `\`tool_use\` ids were found without results: ${open}`)
    : undefined
}
