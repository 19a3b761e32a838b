import type { AssistantMessage, ChatMessage, ChatModel, ChatRequest, ToolCall } from '../chat.js'
import { checkRequest } from '../check-request.js'
import { ModelError } from '../errors.js'
import { isObject } from '../is-object.js'
import { requireThat } from '../usage.js'
import type { ScriptedCall, ScriptTurn } from './script-file.js'

/**
 * A model that answers with the turns of a list. It keeps nothing in memory: the turn follows from the conversation in the request,
 * so a conversation that was interrupted goes on with the right turn, and one that was extended with the next.
 *
 * Call ids carry the turn (`turn-3-1`), so the turn is also found in a history that was cut at the front.
 *
 * @param options.path - The file the turns are from; named when they have run out.
 * @returns A model whose `complete` throws `ERR_MODEL_SCRIPT_END` after the last turn.
 */
export function scriptModel(
  turns: readonly ScriptTurn[],
  options: { path?: string | undefined } = {},
): ChatModel {
  requireThat(Array.isArray(turns), 'scriptModel: the list of turns', 'what parseScript makes')
  requireThat(isObject(options), 'scriptModel: the argument options', '{ path }, or nothing')
  const { path } = options
  return {
    async complete(request, options = {}) {
      checkRequest(request, options)
      const { signal, onDelta } = options
      if (signal?.aborted) throw new ModelError('ERR_MODEL_ABORTED', 'The request was stopped.')
      const number = nextTurn(request.messages)
      const turn = turns[number - 1]
      if (!turn) throw scriptEnd(turns, { number, path })

      const message = speak(turn, number, (text) => fillIn(text, lastObservation(request)))
      if (message.content) onDelta?.({ content: message.content })
      return { message, finishReason: message.tool_calls ? 'tool_calls' : 'stop', raw: message }
    },
  }
}

/** 1 for a conversation in which the model has not spoken yet. */
function nextTurn(messages: readonly ChatMessage[]): number {
  const spoken = messages.filter((message) => message.role === 'assistant')
  const marks = spoken.map((message) =>
    message.tool_calls?.map(turnOfCall).find((turn) => turn !== undefined),
  )
  const last = marks.findLastIndex((turn) => turn !== undefined)
  return (marks[last] ?? 0) + spoken.length - (last + 1) + 1
}

function turnOfCall(call: ToolCall): number | undefined {
  const turn = /^turn-(\d+)-\d+$/.exec(call.id)?.[1]
  return turn === undefined ? undefined : Number(turn)
}

function speak(turn: ScriptTurn, number: number, fill: (text: string) => string): AssistantMessage {
  const calls = (turn.tool_calls ?? []).map(
    (call, index): ToolCall => ({
      id: `turn-${number}-${index + 1}`,
      type: 'function',
      function: { name: call.name, arguments: argumentText(call, fill) },
    }),
  )
  return {
    role: 'assistant',
    content: turn.content === undefined ? null : fill(turn.content),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

function argumentText(call: ScriptedCall, fill: (text: string) => string): string {
  if (typeof call.arguments === 'string') return fill(call.arguments)
  const fillStrings = (_key: string, value: unknown) => (typeof value === 'string' ? fill(value) : value)
  return JSON.stringify(call.arguments ?? {}, fillStrings)
}

/** With a backslash before it the placeholder is meant literally. */
function fillIn(text: string, observation: string): string {
  return text.replaceAll(/\\?\{\{last_observation\}\}/g, (placeholder) =>
    placeholder.startsWith('\\') ? placeholder.slice(1) : observation,
  )
}

/** Without its final newlines, as a shell's `$( )` has it, so that it fits into a sentence. */
function lastObservation(request: ChatRequest): string {
  const observation = request.messages.findLast((message) => message.role === 'tool')?.content ?? ''
  return observation.replace(/\n+$/, '')
}

function scriptEnd(
  turns: readonly ScriptTurn[],
  { number, path }: { number: number; path: string | undefined },
): ModelError {
  const { length } = turns
  const hasAnswered = length > 0 && !turns.at(-1)?.tool_calls?.length
  const remedy = hasAnswered
    ? 'Its last one is an answer: for every further message it needs at least one more.'
    : 'Add a turn to the script, or end it with one that calls no tool.'
  return new ModelError(
    'ERR_MODEL_SCRIPT_END',
    `${path === undefined ? '' : `${path}: `}The script has ${length} ${length === 1 ? 'turn' : 'turns'}, and the conversation has come to turn ${number}. ${remedy}`,
  )
}
