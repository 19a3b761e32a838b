import type { ChatRequest, ModelDelta } from './chat.js'
import { isObject } from './json.js'
import { reasoningOf, textOfParts } from './response.js'

/** The same request, asking for the answer as a stream, with the usage at its end. */
export function streamingRequest(request: ChatRequest): ChatRequest {
  return { stream_options: { include_usage: true }, ...request, stream: true }
}

const NOTHING = { content: '', reasoning: '' }

/** Assembles a completion from the chunks in which it is streamed. */
export function collectAnswer() {
  const message: Record<string, unknown> = {}
  let envelope: Record<string, unknown> = {}
  let usage: unknown
  let finishReason: unknown
  let chosen: unknown
  let hasBegun = false

  /** Takes the next chunk; returns the text and the reasoning that it adds, '' for none. */
  function add({ choices, usage: count, ...rest }: Record<string, unknown>): Required<ModelDelta> {
    envelope = { ...envelope, ...rest, object: 'chat.completion' }
    usage = count ?? usage
    const choice = choiceOf(choices, chosen)
    if (!isObject(choice)) return NOTHING
    chosen ??= choice.index
    hasBegun = true
    finishReason = choice.finish_reason || finishReason // some servers send an empty one with every piece
    const delta = choice.delta ?? choice.message // `message` where the whole answer is one piece
    if (!isObject(delta)) return NOTHING
    addDelta(message, delta)
    const { content } = delta
    const text = Array.isArray(content) ? textOfParts(content) : content
    return { content: typeof text === 'string' ? text : '', reasoning: reasoningOf(delta) }
  }

  function completion(): object {
    const whole = { content: null, ...message, role: 'assistant' }
    const choices = [{ index: 0, message: whole, finish_reason: finishReason ?? null }]
    return { ...envelope, choices, ...(usage ? { usage } : {}) }
  }

  return {
    add,
    completion,
    /** True once any part of a message has come. */
    get hasBegun() {
      return hasBegun
    },
    /** True once the server has said why the answer ends. */
    get hasEnded() {
      return finishReason !== undefined
    },
    /** The text so far; undefined when none has come. */
    get text() {
      return typeof message.content === 'string' ? message.content : undefined
    },
  }
}

/** False for the empty pieces that some servers send as a sign of life. */
export function bringsSomething({ choices }: Record<string, unknown>): boolean {
  if (!Array.isArray(choices)) return false
  return choices.some(({ delta, finish_reason }) => {
    const { role: _role, ...fields } = Object(delta) as Record<string, unknown>
    return finish_reason || Object.values(fields).some((field) => field !== null && field !== '')
  })
}

/** Several choices come interleaved; the answer is the one whose first piece came first. */
function choiceOf(choices: unknown, chosen: unknown): unknown {
  if (!Array.isArray(choices)) return undefined
  return chosen === undefined
    ? choices[0]
    : choices.find((choice) => isObject(choice) && choice.index === chosen)
}

type Fields = Record<string, unknown>

/** Fields of a listed part whose text comes in pieces; every other field of a part comes whole. */
const PIECEWISE = new Set(['arguments', 'text', 'summary', 'data', 'thinking', 'content'])

/**
 * Adds one piece to a message, in place.
 *
 * Text in any field is appended, so reasoning is kept under whatever name the provider uses; a field that comes partly as
 * text and partly as a list of parts becomes a list. Numbered parts (`tool_calls`, `reasoning_details`) are matched by
 * `index`. Any other value replaces the one before.
 */
function addDelta(message: Fields, delta: Fields): void {
  for (const [field, piece] of Object.entries(delta)) {
    const known = message[field]
    if (piece === null || piece === undefined || field === 'role') continue
    if (Array.isArray(piece) || Array.isArray(known))
      message[field] = addParts(asParts(known), asParts(piece))
    else if (typeof piece === 'string' && typeof known === 'string') message[field] = known + piece
    else message[field] = piece
  }
}

function asParts(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return typeof value === 'string' && value !== '' ? [{ type: 'text', text: value }] : []
}

function addParts(parts: readonly unknown[], pieces: readonly unknown[]): unknown[] {
  const all = [...parts]
  for (const piece of pieces) {
    const at = isObject(piece) ? all.findLastIndex((part) => isObject(part) && samePart(part, piece)) : -1
    const part = all[at]
    if (isObject(part) && isObject(piece)) all[at] = addToPart(part, piece)
    else all.push(piece)
  }
  return all
}

/**
 * Some servers give every call the index 0, each with its own name. Some leave out the index and repeat the id; some leave
 * out both, and continue the call they began last.
 */
function samePart(part: Fields, piece: Fields): boolean {
  if (piece.index !== undefined && piece.index !== null)
    return part.index === piece.index && !isAnotherCall(part, piece)
  if (piece.id) return part.id === piece.id
  return isObject(part.function) && !isNamed(piece)
}

/** A new id alone proves nothing: some servers make one up for every piece. */
function isAnotherCall(part: Fields, piece: Fields): boolean {
  if (!isNamed(piece) || (piece.id && part.id === piece.id)) return false
  return Boolean(part.id && piece.id) || (beginsObject(piece) && isWhole(part))
}

function isNamed({ function: called }: Fields): boolean {
  return isObject(called) && Boolean(called.name)
}

function beginsObject({ function: called }: Fields): boolean {
  const { arguments: text } = Object(called) as Fields
  return isObject(text) || (typeof text === 'string' && /^\s*\{/.test(text))
}

/** The arguments are complete JSON, so a further brace cannot continue them. */
function isWhole({ function: called }: Fields): boolean {
  const { arguments: text } = Object(called) as Fields
  if (typeof text !== 'string') return isObject(text)
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false // the arguments are not complete yet
  }
}

function addToPart(part: Fields, piece: Fields): Fields {
  const sum = { ...part }
  for (const [field, value] of Object.entries(piece)) {
    const known = sum[field]
    if (value === null || value === undefined) continue
    if (isObject(known) && isObject(value)) sum[field] = addToPart(known, value)
    else if (field === 'name' && typeof known === 'string' && typeof value === 'string')
      sum[field] = joinName(known, value)
    else if (PIECEWISE.has(field) && typeof known === 'string' && typeof value === 'string')
      sum[field] = known + value
    else if (value !== '' || known === undefined) sum[field] = value
  }
  return sum
}

/** A name comes once, is repeated with every piece, or comes in pieces like other text. */
function joinName(known: string, piece: string): string {
  if (piece === '' || piece === known) return known
  return piece.startsWith(known) ? piece : known + piece
}
