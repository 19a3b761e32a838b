import type { ModelDelta } from './chat.js'
import { ModelError } from './errors.js'
import { cutOff } from './failure.js'
import type { AddedEvent, StreamReader } from './format.js'
import { type Fields, fieldsOf, parseJson, reasoningOfBlock } from './response.js'

/** Adds up the events of a streamed message: its envelope, and its blocks by their index. */
export function startStream(): StreamReader {
  const answer: StreamedMessage = {
    blocks: new Map(),
    inputs: new Map(),
    hasReasoned: false,
    isStopped: false,
  }
  return {
    add(event) {
      const { type } = event
      if (type === 'message_start') answer.envelope = fieldsOf(event.message)
      else if (type === 'message_delta') addToEnvelope(answer, event)
      else if (type === 'message_stop') answer.isStopped = true
      else if (type === 'content_block_start')
        return { delta: startBlock(answer, event), kind: 'part', parts: 1 }
      else if (type === 'content_block_delta')
        return { ...addPiece(answer, event), kind: isEmptyPiece(event) ? 'alive' : 'part' }
      if (type === 'message_stop') return { delta: {}, kind: 'last' }
      return { delta: {}, kind: PARTS.test(String(type)) ? 'part' : 'alive' }
    },
    soFar: () => (answer.blocks.size > 0 || answer.envelope?.usage ? answer.envelope : undefined),
    end() {
      const { envelope, blocks, inputs, isStopped } = answer
      if (!envelope || !isStopped) {
        const texts = [...blocks.values()].flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
        throw cutOff(envelope && texts.join(''), 'no message_stop')
      }
      for (const [index, text] of inputs) {
        // broken JSON stays text, for `read` to judge
        if (text !== '') blocks.set(index, { ...blocks.get(index), input: parseJson(text) ?? text })
      }
      return { ...envelope, content: [...blocks.values()] }
    },
  }
}

/** Events that are part of an answer; `ping` is not. */
const PARTS = /^(message|content_block)_/

/** Some servers send pieces without text as a sign of life. */
function isEmptyPiece({ delta }: Fields): boolean {
  const { type: _, ...said } = fieldsOf(delta)
  return Object.values(said).every((value) => value === '')
}

/** The part of a message that has arrived. */
interface StreamedMessage {
  envelope?: Fields
  /** By their index, in the order in which they began. */
  blocks: Map<number, Fields>
  /** The JSON of each block's input, by the block's index. */
  inputs: Map<number, string>
  /** A block of it holds reasoning. */
  hasReasoned: boolean
  isStopped: boolean
}

/** The usage at the end is laid over that at the beginning, which has the counts of the prompt. */
function addToEnvelope(answer: StreamedMessage, { type: _, delta, usage, ...rest }: Fields): void {
  answer.envelope ??= {}
  const counts = Object.entries(fieldsOf(usage)).filter(([, count]) => count !== null)
  const total = Object.assign(fieldsOf(answer.envelope.usage), Object.fromEntries(counts))
  Object.assign(answer.envelope, fieldsOf(delta), rest, { usage: total })
}

function startBlock(answer: StreamedMessage, { index, content_block }: Fields): ModelDelta {
  const { blocks, hasReasoned: isFurther } = answer
  const block = fieldsOf(content_block)
  const reasoning = reasoningOfBlock(block)
  answer.hasReasoned ||= reasoning !== undefined
  if (blocks.has(Number(index))) throw unknownPiece(`begins block ${String(index)} a second time`)
  blocks.set(Number(index), { ...block })
  return {
    ...(typeof block.text === 'string' && { content: block.text }),
    ...(reasoning !== undefined && { reasoning: `${isFurther ? '\n\n' : ''}${reasoning}` }),
  }
}

/** Adds a piece to its block. No piece is lost silently. */
function addPiece({ blocks, inputs }: StreamedMessage, event: Fields): Omit<AddedEvent, 'kind'> {
  const index = Number(event.index)
  const block = blocks.get(index)
  const piece = fieldsOf(event.delta)
  if (!block) throw unknownPiece(`belongs to no block (index ${String(event.index)})`)
  const grow = (field: string): string => {
    const text = String(piece[field] ?? '')
    block[field] = `${typeof block[field] === 'string' ? block[field] : ''}${text}`
    return text
  }
  switch (piece.type) {
    case 'text_delta':
      return said({ content: grow('text') })
    case 'thinking_delta':
      return said({ reasoning: grow('thinking') })
    case 'signature_delta':
      block.signature = piece.signature // comes whole
      return { delta: {} }
    case 'citations_delta':
      if (Array.isArray(block.citations)) block.citations.push(piece.citation)
      else block.citations = [piece.citation]
      return { delta: {}, parts: 1 }
    case 'input_json_delta': {
      const text = String(piece.partial_json ?? '')
      inputs.set(index, `${inputs.get(index) ?? ''}${text}`)
      return { delta: {}, kept: text.length }
    }
    default:
      throw unknownPiece(`is of an unknown type, ${JSON.stringify(piece.type)}`)
  }
}

function said(delta: ModelDelta): Omit<AddedEvent, 'kind'> {
  const { content = '', reasoning = '' } = delta
  return { delta, kept: content.length + reasoning.length }
}

function unknownPiece(what: string): ModelError {
  const text = `The stream cannot be added up: a piece ${what}. Write stream: false under llm in agent.yaml.`
  return new ModelError('ERR_MODEL_RESPONSE', text)
}
