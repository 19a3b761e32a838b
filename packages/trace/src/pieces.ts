import type { RecordedParts, RequestLines } from './recorded-parts.js'
import type { CostedBlock, SentRequest } from './sent-request.js'
import { apportion, type Share, shareInput, tokensIn } from './shares.js'

/** A piece of a request: the definition of a tool, a call or its result, or anything else. */
export interface Piece extends Share {
  /** The tool, of a definition, or of a call. */
  tool?: string
  /** The call. */
  actionId?: string
}

/** A piece before it has its share. */
interface Weighed {
  bytes: number
  tool?: string
  actionId?: string
}

/** A message of the conversation, and the calls and results in it. */
interface WeighedMessage {
  bytes: number
  calls: Weighed[]
}

/**
 * Takes requests apart, in their order. Within the share of a conversation the bytes of each message decide, within that of the
 * tools those of each definition; so the sums are the same.
 */
export function pieceReader({ linesOf, part }: RecordedParts): (request: SentRequest) => Promise<Piece[]> {
  const messages = new Map<number, WeighedMessage>()
  /** The tool of each call: a result names only the call. */
  const tools = new Map<string, string>()

  function messageAt(line: number): WeighedMessage {
    const message = messages.get(line) ?? weighMessage(part(line))
    messages.set(line, message)
    for (const { actionId, tool } of message.calls) if (actionId && tool) tools.set(actionId, tool)
    return message
  }

  function piecesOf(block: CostedBlock, lines: RequestLines, isChat: boolean): Weighed[] {
    if (block.type === 'tools') return definitionsIn(part(lines.parameters))
    const { message: first } = block
    if (block.type !== 'journal' || first === undefined) return []
    // only in a chat are the messages of the context those of the body
    const own = isChat ? lines.messages.slice(first, first + block.messages) : lines.messages
    return inOrder(own.map(messageAt), block.bytes)
  }

  return async (request) => {
    const lines = linesOf(request)
    const isChat = request.api === undefined || request.api === 'chat'
    const pieces = request.blocks.flatMap((block) => {
      const weighed = lines ? piecesOf(block, lines, isChat) : []
      const whole = weighed.length > 0 ? weighed : [{ bytes: 1 }]
      const tokens = apportion(
        whole.map(({ bytes }) => bytes),
        tokensIn(block),
      )
      return whole.map((piece, index) => ({ ...piece, tokens: tokens[index] ?? 0 }))
    })
    return shareInput(pieces, ({ tokens }) => tokens, request.tokens).map((piece) => {
      const { actionId, read, written, new: fresh } = piece
      const tool = piece.tool ?? tools.get(actionId ?? '')
      return { ...(tool && { tool }), ...(actionId && { actionId }), read, written, new: fresh }
    })
  }
}

function definitionsIn(parameters: unknown): Weighed[] {
  const { tools } = Object(parameters) as { tools?: unknown }
  return (Array.isArray(tools) ? tools : []).map((definition) => ({
    bytes: bytesOf(definition),
    tool: String(definition?.function?.name ?? definition?.name),
  }))
}

/**
 * The calls and results of messages, and between them what else is said. What else there is counts as if all were as large as
 * the conversation was measured: the body for another API than Chat Completions also holds other sources.
 */
function inOrder(messages: readonly WeighedMessage[], bytes: number): Weighed[] {
  const inCalls = sum(messages.flatMap(({ calls }) => calls))
  const rest = sum(messages) - inCalls
  const scale = rest === 0 ? 0 : Math.max(0, bytes - inCalls) / rest
  return messages.flatMap(({ bytes: all, calls }) => {
    const other = (all - sum(calls)) * scale
    return other > 0 ? [{ bytes: other }, ...calls] : calls
  })
}

function sum(sizes: readonly { bytes: number }[]): number {
  return sizes.reduce((total, { bytes }) => total + bytes, 0)
}

/** Finds the calls and results in a message of any API. */
function weighMessage(message: unknown): WeighedMessage {
  const bytes = bytesOf(message)
  const { tool_call_id, call_id, name, tool_calls, content } = Object(message) as Record<string, unknown>
  const id = tool_call_id ?? call_id // a result in a chat; a call or a result among the items of Responses
  if (typeof id === 'string') {
    const tool = typeof name === 'string' ? { tool: name } : {}
    return { bytes, calls: [{ bytes, actionId: id, ...tool }] }
  }
  const listed = [tool_calls, content].flatMap((list) => (Array.isArray(list) ? list : []))
  return { bytes, calls: listed.flatMap(callIn) }
}

function callIn(part: unknown): Weighed[] {
  const { id, tool_use_id, name, function: called } = Object(part) as Record<string, unknown>
  const actionId = tool_use_id ?? id
  if (typeof actionId !== 'string') return []
  const tool = Object(called).name ?? name
  return [{ bytes: bytesOf(part), actionId, ...(typeof tool === 'string' && { tool }) }]
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '')
}
