import { isObject } from '../is-object.js'
import { textOfParts } from './completion.js'
import { addDelta } from './delta.js'

/** Adds the chunks of a streamed completion up to the completion they stand for. */
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
    finishReason = choice.finish_reason || finishReason // some send an empty one with every piece
    const delta = choice.delta ?? choice.message // which comes alone where an answer is streamed in one piece
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
    /** True once there is anything of a message. */
    get hasBegun() {
      return hasBegun
    },
    /** True once the server has said why the answer ends. */
    get hasEnded() {
      return finishReason !== undefined
    },
    /** What there is of the text; undefined when there is none at all. */
    get text() {
      return typeof message.content === 'string' ? message.content : undefined
    },
  }
}

/** Some servers show that they are alive by pieces with nothing in them. */
export function bringsSomething({ choices }: Record<string, unknown>): boolean {
  if (!Array.isArray(choices)) return false
  return choices.some(({ delta, finish_reason }) => {
    const { role: _role, ...fields } = Object(delta) as Record<string, unknown>
    return finish_reason || Object.values(fields).some((field) => field !== null && field !== '')
  })
}

/** Where several choices were asked for they come mixed; the answer is the one that came first. */
function choiceOf(choices: unknown, chosen: unknown): unknown {
  if (!Array.isArray(choices)) return undefined
  return chosen === undefined
    ? choices[0]
    : choices.find((choice) => isObject(choice) && choice.index === chosen)
}
