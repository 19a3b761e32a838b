import { isObject } from '../is-object.js'
import { textOfParts } from './completion.js'
import { addDelta } from './delta.js'

/** Assembles a completion from the chunks in which it is streamed. */
export function collectAnswer() {
  const message: Record<string, unknown> = {}
  let envelope: Record<string, unknown> = {}
  let usage: unknown
  let finishReason: unknown
  let chosen: unknown
  let hasBegun = false

  /** Takes the next chunk; returns the text that it adds, '' for none. */
  function add({ choices, usage: count, ...rest }: Record<string, unknown>): string {
    envelope = { ...envelope, ...rest, object: 'chat.completion' }
    usage = count ?? usage
    const choice = choiceOf(choices, chosen)
    if (!isObject(choice)) return ''
    chosen ??= choice.index
    hasBegun = true
    finishReason = choice.finish_reason || finishReason // some servers send an empty one with every piece
    const delta = choice.delta ?? choice.message // `message` where the whole answer is one piece
    if (!isObject(delta)) return ''
    addDelta(message, delta)
    if (Array.isArray(delta.content)) return textOfParts(delta.content)
    return typeof delta.content === 'string' ? delta.content : ''
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
